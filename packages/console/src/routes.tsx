import { Box } from '@mantine/core'
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { useEffect } from 'react'
import type { MediaSearch } from './pages/media/media.tsx'
import type { ComposeSearch } from './pages/compose/compose.tsx'
import type { PostsSearch } from './pages/posts/posts.tsx'
import type { PostFilters } from './shared/post-filters.tsx'
import type { AnalyticsSearch } from './pages/analytics/analytics.tsx'
import type { ConnectResult } from './pages/accounts/accounts.tsx'
import type { CalendarSearch } from './pages/calendar/calendar.tsx'
import { isPostStatus } from './shared/statuses.tsx'
import { startSession, useSession } from './session/session.ts'
import { Layout } from './shell/layout.tsx'
import { Failure, Loading } from './shared/states.tsx'
import { NotFoundPage } from './shell/not-found.tsx'

/** The address to return to after the login. */
interface Return {
  to?: string
}

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

const page = (value: unknown) => (Number(value) > 1 ? { page: Math.floor(Number(value)) } : {})
const textAs = <K extends string>(key: K, value: unknown) =>
  (text(value) ? { [key]: text(value) } : {}) as { [key in K]?: string }

/** A view of the calendar other than that of a month. */
const viewOf = (view: unknown): Pick<CalendarSearch, 'view'> => (view === 'day' || view === 'week' ? { view } : {})

/** Reads who is signed in before anything is shown. Google's login returns with an access token in the fragment. */
function Root() {
  const { kind, ...session } = useSession()
  useEffect(() => {
    const token = new URLSearchParams(location.hash.slice(1)).get('accessToken')
    if (token !== null) history.replaceState(history.state, '', location.pathname + location.search)
    void startSession(token ?? '')
  }, [])
  if (kind === 'starting') return <Loading />
  if (kind === 'unreachable' && 'error' in session)
    return <Failure error={session.error} retry={() => void startSession()} />
  return <Outlet />
}

/** Pages for visitors lead users on who are signed in. */
function Visitors() {
  const { to } = visitors.useSearch()
  if (useSession().kind === 'signedIn') return <Navigate to={to?.startsWith('/') ? to : '/'} replace />
  return <Outlet />
}

function SignedIn() {
  if (useSession().kind === 'signedIn') return <Layout />
  const { pathname, search } = location
  return <Navigate to="/login" search={pathname === '/' ? {} : { to: pathname + search }} replace />
}

/** For addresses that no page has, also of visitors. */
function NotFound() {
  return (
    <Box component="main" p="xl">
      <NotFoundPage />
    </Box>
  )
}

const root = createRootRoute({ component: Root, notFoundComponent: NotFound })

const visitors = createRoute({
  getParentRoute: () => root,
  id: 'visitors',
  component: Visitors,
  validateSearch: ({ to }): Return => textAs('to', to),
})
const signedIn = createRoute({ getParentRoute: () => root, id: 'signed-in', component: SignedIn })

const visitorRoutes = [
  createRoute({
    getParentRoute: () => visitors,
    path: '/login',
    component: lazyRouteComponent(() => import('./pages/auth/log-in.tsx'), 'LogInPage'),
    validateSearch: ({ error }): { error?: string } => textAs('error', error),
  }),
  // Where the login with Google returns to, with the token in the fragment, which Root takes.
  createRoute({
    getParentRoute: () => visitors,
    path: '/auth/callback',
    component: () => <Navigate to="/login" replace />,
  }),
  createRoute({
    getParentRoute: () => visitors,
    path: '/register',
    component: lazyRouteComponent(() => import('./pages/auth/register.tsx'), 'RegisterPage'),
  }),
  createRoute({
    getParentRoute: () => visitors,
    path: '/forgot-password',
    component: lazyRouteComponent(() => import('./pages/auth/forgot-password.tsx'), 'ForgotPasswordPage'),
  }),
  createRoute({
    getParentRoute: () => visitors,
    path: '/reset-password',
    component: lazyRouteComponent(() => import('./pages/auth/reset-password.tsx'), 'ResetPasswordPage'),
    validateSearch: ({ token, email }): { token?: string; email?: string } => ({
      ...textAs('token', token),
      ...textAs('email', email),
    }),
  }),
]

const postFilters = ({ status, account, q }: Record<string, unknown>): PostFilters => ({
  ...(Array.isArray(status) && status.length > 0 ? { status: status.filter(isPostStatus) } : {}),
  ...textAs('account', account),
  ...textAs('q', q),
})
const connectResult = ({ success, error, reason, offer }: Record<string, unknown>): ConnectResult => ({
  ...textAs('success', success),
  ...textAs('error', error),
  ...textAs('reason', reason),
  ...textAs('offer', offer),
})

const userRoutes = [
  createRoute({
    getParentRoute: () => signedIn,
    path: '/',
    component: lazyRouteComponent(() => import('./pages/home/home.tsx'), 'HomePage'),
  }),
  createRoute({
    getParentRoute: () => signedIn,
    path: '/compose',
    component: lazyRouteComponent(() => import('./pages/compose/compose.tsx'), 'ComposePage'),
    validateSearch: ({ id, at, view, text: written, media }): ComposeSearch => ({
      ...textAs('id', id),
      ...textAs('at', at),
      ...viewOf(view),
      ...textAs('text', written),
      ...textAs('media', media),
    }),
  }),
  createRoute({
    getParentRoute: () => signedIn,
    path: '/calendar',
    component: lazyRouteComponent(() => import('./pages/calendar/calendar.tsx'), 'CalendarPage'),
    validateSearch: ({ view, date, ...rest }): CalendarSearch => ({
      ...viewOf(view),
      ...(/^\d{4}-\d{2}-\d{2}$/.test(text(date) ?? '') && { date: text(date)! }),
      ...postFilters(rest),
    }),
  }),
  createRoute({
    getParentRoute: () => signedIn,
    path: '/posts',
    component: lazyRouteComponent(() => import('./pages/posts/posts.tsx'), 'PostsPage'),
    validateSearch: ({ page: number, ...rest }): PostsSearch => ({ ...page(number), ...postFilters(rest) }),
  }),
  createRoute({
    getParentRoute: () => signedIn,
    path: '/posts/$postId',
    component: lazyRouteComponent(() => import('./pages/posts/post.tsx'), 'PostPage'),
  }),
  createRoute({
    getParentRoute: () => signedIn,
    path: '/review',
    component: lazyRouteComponent(() => import('./pages/posts/review.tsx'), 'ReviewPage'),
    validateSearch: ({ page: number }): { page?: number } => page(number),
  }),
  createRoute({
    getParentRoute: () => signedIn,
    path: '/media',
    component: lazyRouteComponent(() => import('./pages/media/media.tsx'), 'MediaPage'),
    validateSearch: ({ page: number, kind, used }): MediaSearch => ({
      ...page(number),
      ...((kind === 'image' || kind === 'video') && { kind }),
      ...((used === 'true' || used === 'false') && { used }),
    }),
  }),
  createRoute({
    getParentRoute: () => signedIn,
    path: '/analytics',
    component: lazyRouteComponent(() => import('./pages/analytics/analytics.tsx'), 'AnalyticsPage'),
    validateSearch: ({ period, from, to, account }): AnalyticsSearch => ({
      ...(period === '7d' && { period }),
      ...(text(from) && text(to) && { from: text(from)!, to: text(to)! }),
      ...textAs('account', account),
    }),
  }),
  createRoute({
    getParentRoute: () => signedIn,
    path: '/accounts',
    component: lazyRouteComponent(() => import('./pages/accounts/accounts.tsx'), 'AccountsPage'),
    validateSearch: connectResult,
  }),
  createRoute({
    getParentRoute: () => signedIn,
    path: '/notifications',
    component: lazyRouteComponent(() => import('./pages/notifications/notifications.tsx'), 'NotificationsPage'),
    validateSearch: ({ page: number }): { page?: number } => page(number),
  }),
  createRoute({
    getParentRoute: () => signedIn,
    path: '/plan',
    component: lazyRouteComponent(() => import('./pages/plan/plan.tsx'), 'PlanPage'),
  }),
  createRoute({
    getParentRoute: () => signedIn,
    path: '/payment/success',
    component: lazyRouteComponent(() => import('./pages/plan/payment.tsx'), 'PaymentSuccessPage'),
  }),
  createRoute({
    getParentRoute: () => signedIn,
    path: '/payment/cancel',
    component: lazyRouteComponent(() => import('./pages/plan/payment.tsx'), 'PaymentCancelPage'),
  }),
]

const settings = createRoute({
  getParentRoute: () => signedIn,
  path: '/settings',
  component: lazyRouteComponent(() => import('./pages/settings/settings.tsx'), 'SettingsPage'),
  validateSearch: connectResult,
  // Logins on the pages of platforms return here, by the specification; their outcome belongs to the accounts.
  beforeLoad: ({ search }) => {
    if (search.success ?? search.error) throw redirect({ to: '/accounts', search, replace: true })
  },
})

const settingsRoutes = [
  createRoute({
    getParentRoute: () => settings,
    path: '/',
    component: lazyRouteComponent(() => import('./pages/settings/profile.tsx'), 'ProfileSettings'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: '/slots',
    component: lazyRouteComponent(() => import('./pages/settings/slots.tsx'), 'SlotSettings'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: '/notifications',
    component: lazyRouteComponent(() => import('./pages/settings/notification-settings.tsx'), 'NotificationSettings'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: '/security',
    component: lazyRouteComponent(() => import('./pages/settings/security.tsx'), 'SecuritySettings'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: '/keys',
    component: lazyRouteComponent(() => import('./pages/settings/keys.tsx'), 'KeySettings'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: '/webhooks',
    component: lazyRouteComponent(() => import('./pages/settings/webhooks.tsx'), 'WebhookSettings'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: '/webhooks/$id',
    component: lazyRouteComponent(() => import('./pages/settings/webhook-log.tsx'), 'WebhookLog'),
    validateSearch: ({ page: number }): { page?: number } => page(number),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: '/imports',
    component: lazyRouteComponent(() => import('./pages/settings/imports.tsx'), 'ImportSettings'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: '/imports/$id',
    component: lazyRouteComponent(() => import('./pages/settings/import.tsx'), 'ImportPage'),
  }),
  createRoute({
    getParentRoute: () => settings,
    path: '/data',
    component: lazyRouteComponent(() => import('./pages/settings/data.tsx'), 'DataSettings'),
  }),
]

const admin = createRoute({
  getParentRoute: () => signedIn,
  path: '/admin',
  component: lazyRouteComponent(() => import('./pages/admin/admin.tsx'), 'AdminPage'),
})

const adminRoutes = [
  createRoute({
    getParentRoute: () => admin,
    path: '/',
    component: lazyRouteComponent(() => import('./pages/admin/setup.tsx'), 'SetupPanel'),
  }),
  createRoute({
    getParentRoute: () => admin,
    path: '/queues',
    component: lazyRouteComponent(() => import('./pages/admin/queues.tsx'), 'QueuesPanel'),
  }),
  createRoute({
    getParentRoute: () => admin,
    path: '/users',
    component: lazyRouteComponent(() => import('./pages/admin/users.tsx'), 'UsersPanel'),
    validateSearch: ({ page: number, q }): { page?: number; q?: string } => ({ ...page(number), ...textAs('q', q) }),
  }),
  createRoute({
    getParentRoute: () => admin,
    path: '/users/$id',
    component: lazyRouteComponent(() => import('./pages/admin/user.tsx'), 'UserPanel'),
  }),
  createRoute({
    getParentRoute: () => admin,
    path: '/dead-letters',
    component: lazyRouteComponent(() => import('./pages/admin/logs.tsx'), 'DeadLettersPanel'),
    validateSearch: ({ page: number }): { page?: number } => page(number),
  }),
  createRoute({
    getParentRoute: () => admin,
    path: '/audit',
    component: lazyRouteComponent(() => import('./pages/admin/logs.tsx'), 'AuditPanel'),
    validateSearch: ({ page: number }): { page?: number } => page(number),
  }),
]

export const router = createRouter({
  routeTree: root.addChildren([
    visitors.addChildren(visitorRoutes),
    signedIn.addChildren([...userRoutes, settings.addChildren(settingsRoutes), admin.addChildren(adminRoutes)]),
  ]),
  defaultPreload: 'intent',
  defaultPendingComponent: Loading,
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
