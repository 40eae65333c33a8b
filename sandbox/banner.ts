import type { PostServer } from './platforms/all.ts'
import type { RunningService } from './services/all.ts'
import type { MovedPort, Settings } from './settings.ts'
import type { World } from './world.ts'

export interface Started {
  world: World
  settings: Settings
  postServers: PostServer[]
  services: RunningService[]
  /** The page that shows the posts of all platforms. */
  startPage: string
  /** The user's own frontend; `null`: the sandbox's page is the frontend. */
  frontend: string | null
  moved: MovedPort[]
}

/** The summary that `npm run dev` prints when everything is running. */
export function banner(
  { world, settings, postServers, services, startPage, frontend, moved }: Started,
  dir: string,
  took: string,
): string {
  const { api, temporal } = world
  const { user, admin } = settings.users
  const { firstPost } = settings
  const row = (name: string, value: string) => `  ${name.padEnd(15)}${value}`
  const workflow =
    firstPost && `${temporal.ui}/namespaces/${temporal.namespace}/workflows/publish-post%2F${firstPost.postId}`
  return [
    '',
    `postonce is running after ${took}. Press Ctrl-C to stop it. Its data stays in ${dir}`,
    '',
    ...(frontend === null ? [] : [row('your frontend', `${frontend}  (redirects and mails link to it)`)]),
    row('open this', world.frontend),
    row('API', api),
    row('API reference', `${api}/docs`),
    row('Temporal UI', temporal.ui),
    row('all posts', startPage),
    ...postServers.map(({ title, url }) => row(title, url)),
    ...services.map(({ title, url }) => row(title, url)),
    row('log in as', `${user.email}  ${user.password}`),
    row('or as admin', `${admin.email}  ${admin.password}`),
    row('API key', world.apiKey),
    row('for scripts', `${dir}/world.json`),
    row('logs', `${dir}/logs`),
    ...moved.map(({ name, from, to }) =>
      row('moved', `${name}: another program uses port ${from}, so this start uses port ${to}`),
    ),
    ...(firstPost === null
      ? []
      : [
          '',
          'The first post is public at:',
          ...Object.values(firstPost.addresses).map((address) => `  ${address}`),
          'Its workflow in the Temporal UI:',
          `  ${workflow}`,
          'Older posts and all analytics are sample data.',
        ]),
    '',
    'Publish your own post (TOKEN is valid for ten minutes):',
    `  TOKEN=$(curl -s ${api}/api/auth/login -H 'content-type: application/json' \\`,
    `    -d '{"email": "${user.email}", "password": "${user.password}"}' \\`,
    `    | node -p 'JSON.parse(require("fs").readFileSync(0)).data.accessToken')`,
    `  curl -s ${api}/api/posts -H "authorization: Bearer $TOKEN" -H 'content-type: application/json' \\`,
    `    -d '{"content": {"text": "My own post"}, "selectedPlatforms": ["bluesky"]}'`,
    'Or use the command line, in the folder of the repository:',
    `  export POSTONCE_URL=${api} POSTONCE_API_KEY=${world.apiKey}`,
    '  node_modules/.bin/postonce post "Written in a shell" --to bluesky --wait',
    '  node_modules/.bin/postonce schedule "See you soon" --to bluesky,mastodon --at +2m',
    '  node_modules/.bin/postonce list --limit 5',
    'List the public posts of each server (the README shows how to make the next post fail):',
    ...postServers.map(({ title, control }) => `  curl -s ${control}/ledger    # ${title}`),
    '',
  ].join('\n')
}
