import type { Faults } from '../platforms/faults.ts'
import type { Route } from '../platforms/shared/server.ts'

/** The part of a control interface that breaks a server, the same for all (design section 11). */
export function faultRoutes(faults: Faults): Route[] {
  const listed = () => ({ status: 200, body: { faults: faults.list() } })
  return [
    ['GET', /^\/faults$/, () => ({ status: 200, body: faults.list() })],
    [
      'POST',
      /^\/faults$/,
      ({ params }) => {
        const problem = faults.add(params.json)
        return problem === null ? listed() : { status: 400, body: { error: problem } }
      },
    ],
    [
      'DELETE',
      /^\/faults$/,
      () => {
        faults.clear()
        return listed()
      },
    ],
  ]
}
