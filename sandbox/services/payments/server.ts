import type { Server } from 'node:http'
import { createSimulatorServer, type Route } from '../../platforms/shared/server.ts'
import { errorBody } from './errors.ts'

const MAX_BODY_BYTES = 256 * 1_024

/** Serves the API and the pages. */
export function createPaymentsServer({ base, routes }: { base(): string; routes: Route[] }): Server {
  return createSimulatorServer({
    base,
    maxBodyBytes: MAX_BODY_BYTES,
    enter: () => ({}),
    routes,
    notFound: () => ({ status: 404, body: errorBody({ message: 'Unrecognized request URL.' }) }),
    failed: () => ({ status: 500, body: errorBody({ type: 'api_error', message: 'An unknown error occurred' }) }),
  })
}
