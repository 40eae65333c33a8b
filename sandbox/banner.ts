import { platformLabel, type Platform } from '../src/domain/shared/platforms.ts'
import type { RunningService } from './services/all.ts'
import type { MovedPort, Settings } from './settings.ts'
import type { World } from './world.ts'

export interface Started {
  world: World
  settings: Settings
  services: RunningService[]
  /** Where all platforms' posts can be looked at. */
  startPage: string
  /** The user's own; null: the sandbox's page is the frontend. */
  frontend: string | null
  moved: MovedPort[]
}

/** What a person wants to know when everything is up, and can copy from there. */
export function banner(
  { world, settings, services, startPage, frontend, moved }: Started,
  dir: string,
  took: string,
): string {
  const { api, temporal, platforms } = world
  const { user, admin } = settings.users
  const { firstPost } = settings
  const row = (name: string, value: string) => `  ${name.padEnd(15)}${value}`
  const workflow =
    firstPost && `${temporal.ui}/namespaces/${temporal.namespace}/workflows/publish-post%2F${firstPost.postId}`
  return [
    '',
    `postonce is up after ${took}. Ctrl-C stops it; what it knows stays in ${dir}`,
    '',
    ...(frontend === null ? [] : [row('your frontend', `${frontend}  (redirects and mails lead there)`)]),
    row('to try it', world.frontend),
    row('API', api),
    row('reference', `${api}/docs`),
    row('Temporal UI', temporal.ui),
    row('all posts', startPage),
    ...Object.entries(platforms).map(([name, { url }]) => row(platformLabel(name as Platform), url)),
    ...services.map(({ title, url }) => row(title, url)),
    row('user', `${user.email}  ${user.password}`),
    row('admin', `${admin.email}  ${admin.password}`),
    row('for scripts', `${dir}/world.json`),
    row('logs', `${dir}/logs`),
    ...moved.map(({ name, from, to }) => row('moved', `${name}: port ${from} is taken, it uses ${to} this time`)),
    ...(firstPost === null
      ? []
      : [
          '',
          'The first post, as everybody sees it:',
          ...Object.values(firstPost.addresses).map((address) => `  ${address}`),
          'and how it got there:',
          `  ${workflow}`,
          'Older posts are made up, and so are all figures: there would be nothing to draw otherwise.',
        ]),
    '',
    'Publish one of your own:',
    `  TOKEN=$(curl -s ${api}/api/auth/login -H 'content-type: application/json' \\`,
    `    -d '{"email": "${user.email}", "password": "${user.password}"}' \\`,
    `    | node -p 'JSON.parse(require("fs").readFileSync(0)).data.accessToken')`,
    `  curl -s ${api}/api/posts -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\`,
    `    -d '{"content": {"text": "My own post"}, "selectedPlatforms": ["bluesky"]}'`,
    'What the public sees of it, and how to break the next one (see the README):',
    ...Object.values(platforms).map(({ control }) => `  curl -s ${control}/ledger`),
    '',
  ].join('\n')
}
