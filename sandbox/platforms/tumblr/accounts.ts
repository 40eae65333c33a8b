import { nameTaken } from '../shared/consent.ts'
import { randomText } from './random-text.ts'
import type { Account, Blog, State } from './state.ts'

export interface NewAccount {
  /** The name of the account and of its primary blog. */
  name: string
  title?: string
  /** The name of a second blog. */
  otherBlog?: string
}

const BLOG_NAME = /^[a-z0-9][a-z0-9-]{0,31}$/

export function createAccounts({ accounts, blogs, newId }: Pick<State, 'accounts' | 'blogs' | 'newId'>) {
  const named = (name: string) => blogs.values().find((blog) => blog.name === name)

  function addBlog(accountId: string, blog: Pick<Blog, 'name' | 'title' | 'isPrimary'>): Blog {
    const uuid = `t:${randomText().slice(0, 22)}`
    return blogs.set(uuid, { uuid, accountId, ...blog })
  }

  function add({ name, title = '', otherBlog }: NewAccount): { account: Account; blog: Blog } {
    const id = newId()
    const account = accounts.set(id, { id, name })
    if (otherBlog !== undefined) addBlog(id, { name: otherBlog, title: '', isPrimary: false })
    return { account, blog: addBlog(id, { name, title, isPrimary: true }) }
  }

  return {
    find: accounts.get,
    /** Returns the primary blog of the account with this name, created if needed. */
    ensure(input: NewAccount): Blog & { loginId: string } {
      const blog = named(input.name) ?? add(input).blog
      return { ...blog, loginId: blog.accountId }
    },
    create: (name: string): Account => add({ name }).account,
    problemOf(name: string): string | null {
      if (!BLOG_NAME.test(name)) return 'A blog name has up to 32 lower-case letters, digits and hyphens'
      return named(name) ? nameTaken(name) : null
    },
  }
}

export type Accounts = ReturnType<typeof createAccounts>
