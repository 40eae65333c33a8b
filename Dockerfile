# One image for all processes of the service: the command says which one it is (see docker-compose.yml).
# Debian, not Alpine: Temporal's native library needs glibc.
# An exact version; a digest pins it permanently (docs/operations/deploy.md#pin-images).
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# Every native package that the service itself needs comes ready-made, so no install script has to run.
RUN npm ci --omit=dev --ignore-scripts

FROM packages AS bundle
COPY src src
RUN node src/cli/bundle-workflows.ts
# More than half of the packages serve other machines, compilers or debuggers only.
RUN find node_modules/@temporalio/core-bridge/releases -mindepth 1 -maxdepth 1 ! -name "$(uname -m)-*-linux-gnu" -exec rm -r {} + \
  && rm -r node_modules/@temporalio/core-bridge/sdk-core \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete

FROM ${NODE_IMAGE} AS console
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/sdk/package.json packages/sdk/
COPY packages/console/package.json packages/console/
RUN npm ci --ignore-scripts --workspace packages/console
COPY tsconfig.json ./
COPY packages/sdk packages/sdk
COPY packages/console packages/console
RUN npm run build --workspace packages/console

FROM ${NODE_IMAGE}
ENV NODE_ENV=production
WORKDIR /app
COPY --from=bundle /app/node_modules node_modules
COPY --from=bundle /app/dist dist
COPY --from=console /app/packages/console/dist packages/console/dist
COPY package.json LICENSE ./
COPY src src
USER node
EXPOSE 4000
# Node is process 1 and gets SIGTERM itself: both processes handle it, finish what is on its way and exit.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:'+(process.env.PORT||4000)+'/health/live').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))"]
CMD ["node", "src/server.ts"]
