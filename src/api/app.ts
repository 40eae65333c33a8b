import Fastify, { type FastifyBaseLogger, type FastifyInstance } from "fastify";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { Context } from "../context.ts";
import { installErrorHandling } from "./errors.ts";
import { guards } from "./plugins/guards.ts";
import { ErrorBodySchema } from "./schemas/envelope.ts";
import { postsRoutes } from "./posts/routes.ts";
import { platformRoutes } from "./platforms/routes.ts";

/** Builds the API without opening a port. */
export async function buildApp(context: Context): Promise<FastifyInstance> {
  const app = Fastify({
    loggerInstance: context.logger as FastifyBaseLogger,
  }).withTypeProvider<TypeBoxTypeProvider>();
  app.addSchema(ErrorBodySchema);
  installErrorHandling(app);
  await app.register(guards, { context });
  await app.register(userRoutes, { context });
  return app;
}

/** Routes for authenticated users: every route in here is guarded, whatever its own file says. */
async function userRoutes(
  app: FastifyInstance,
  { context }: { context: Context },
): Promise<void> {
  app.addHook("onRequest", app.requireUser);
  await app.register(postsRoutes, { prefix: "/api/posts", context });
  await app.register(platformRoutes, { prefix: "/api/platform", context });
}
