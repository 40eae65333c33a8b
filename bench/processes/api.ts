import { buildApp } from '../../src/api/app.ts'
import { readConfig } from '../../src/config.ts'
import { createContext } from '../../src/context.ts'
import { serve } from '../processes.ts'

/** The service's API as it is. */
const config = readConfig(process.env)
const context = await createContext(config)
const app = await buildApp(context)
const address = await app.listen({ host: config.HOST, port: 0 })

serve(address, async () => {
  await app.close()
  await context.close()
})
