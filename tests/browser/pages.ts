import type { Page } from 'playwright-core'

/** Every page of a user, with what it shows when it is ready. */
export const PAGES: [path: string, heading: string][] = [
  ['/', 'Hello, Test'],
  ['/calendar', 'Calendar'],
  ['/calendar?view=week', 'Calendar'],
  ['/posts', 'Posts'],
  ['/review', 'Review'],
  ['/compose', 'New post'],
  ['/media', 'Media'],
  ['/analytics', 'Analytics'],
  ['/accounts', 'Accounts'],
  ['/notifications', 'Notifications'],
  ['/plan', 'Plan'],
  ['/settings', 'Settings'],
  ['/settings/slots', 'Settings'],
  ['/settings/notifications', 'Settings'],
  ['/settings/security', 'Settings'],
  ['/settings/keys', 'Settings'],
  ['/settings/webhooks', 'Settings'],
  ['/settings/imports', 'Settings'],
  ['/settings/data', 'Settings'],
  ['/nowhere', 'There is no such page'],
]

/** The forms of every page. The order changes the width once. */
export const FORMS = [
  { width: 1_280, colorScheme: 'light' },
  { width: 1_280, colorScheme: 'dark' },
  { width: 390, colorScheme: 'dark' },
  { width: 390, colorScheme: 'light' },
] as const

/** Ends when the colors of the scheme before have faded. */
const END_OF_TRANSITIONS = `Promise.allSettled(
  document.getAnimations().filter((one) => one instanceof CSSTransition).map(({ finished }) => finished),
).then(() => undefined)`

/** Shows a loaded page in a form. */
export async function showForm(page: Page, { width, colorScheme }: (typeof FORMS)[number]): Promise<void> {
  await page.setViewportSize({ width, height: 844 })
  await page.emulateMedia({ colorScheme })
  await page.locator(`html[data-mantine-color-scheme=${colorScheme}]`).waitFor()
  await page.evaluate(END_OF_TRANSITIONS)
}
