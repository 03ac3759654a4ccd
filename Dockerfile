# The image of the engine: `docker build -t perdure .`. It runs without root rights, needs no writable root file system,
# and stores its SQLite file in the volume /app/.perdure. The arguments are those of `perdure`:
# `docker run perdure keys create --kind secret`.

FROM node:24-bookworm-slim AS manifests
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/protocol/package.json packages/protocol/
COPY packages/client/package.json packages/client/
COPY packages/engine/package.json packages/engine/
COPY packages/console/package.json packages/console/
COPY packages/sdk/package.json packages/sdk/
COPY packages/cli/package.json packages/cli/
COPY packages/perdure/package.json packages/perdure/
COPY packages/create-perdure/package.json packages/create-perdure/
COPY examples/order/package.json examples/order/

# The packages that the engine needs at run time. Optional packages are binaries of `perdure dev` and of tests.
FROM manifests AS production
RUN npm ci --omit=dev --omit=optional --workspace @perdure/cli

# The bundler's binary is an optional package too.
FROM manifests AS build
RUN npm ci
COPY tsconfig.json tsconfig.base.json ./
COPY scripts scripts
COPY packages packages
RUN npm run -s build
RUN umask 077 && mkdir -p /empty

# The example runner of compose.yaml. Build your own runners as images of their own.
FROM build AS example-runner
COPY examples/order examples/order
USER node
CMD ["node", "examples/order/connected-runner.ts"]

FROM gcr.io/distroless/nodejs24-debian12:nonroot AS engine
LABEL org.opencontainers.image.title=perdure \
  org.opencontainers.image.description="The Perdure engine: durable workflows on SQLite or PostgreSQL." \
  org.opencontainers.image.version=0.1.0 \
  org.opencontainers.image.licenses=Apache-2.0 \
  org.opencontainers.image.source=https://github.com/perdure/perdure \
  org.opencontainers.image.documentation=https://github.com/perdure/perdure/tree/main/docs
WORKDIR /app
COPY --from=production /app/node_modules node_modules
COPY --from=production /app/packages/protocol/package.json packages/protocol/
COPY --from=production /app/packages/client/package.json packages/client/
COPY --from=production /app/packages/engine/package.json packages/engine/
COPY --from=production /app/packages/cli/package.json packages/cli/
COPY --from=build /app/packages/protocol/dist packages/protocol/dist
COPY --from=build /app/packages/client/dist packages/client/dist
COPY --from=build /app/packages/engine/dist packages/engine/dist
COPY --from=build /app/packages/cli/dist packages/cli/dist
COPY packages/cli/bin packages/cli/bin
COPY LICENSE ./
# A new volume gets the owner of the folder on which it is mounted.
COPY --from=build --chown=65532:65532 /empty .perdure

# A published port does not reach a loopback address, so listen on all. Without a key the engine then refuses to start.
ENV NODE_ENV=production ENGINE_HOST=0.0.0.0 ENGINE_PORT=4777
USER 65532:65532
VOLUME ["/app/.perdure"]
EXPOSE 4777
# SIGTERM drains the engine; allow more than ENGINE_DRAIN_TIMEOUT before SIGKILL (`docker stop -t 60`).
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["/nodejs/bin/node", "-e", "fetch('http://127.0.0.1:' + (process.env.ENGINE_PORT || 4777) + '/healthz').then(answer => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["/nodejs/bin/node", "packages/cli/bin/perdure.js"]
CMD ["serve"]
