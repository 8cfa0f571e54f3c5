# Builds with everything, ships without: no TypeScript, no Prisma command line, no test tool, and no
# embedded PostgreSQL, because a container has DATABASE_URL. docs/deployment.md tells how to run it.

# To be overridden by the same image with its digest, where that is known: node:24-bookworm-slim@sha256:…
ARG NODE_IMAGE=node:24-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build

FROM ${NODE_IMAGE} AS modules
WORKDIR /app
COPY package.json package-lock.json ./
# The optional packages are the embedded PostgreSQL.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund
COPY --from=build /app/dist ./dist
# Most of what npm installs is never read by a running program: typings, source maps, and the query
# compilers that Prisma ships for four other databases and in two sizes. Of those, the ones that the
# generated client names stay, so that a Prisma which names others keeps others.
RUN find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' \) -delete \
 && for compiler in node_modules/@prisma/client/runtime/query_compiler_*; do \
      grep -qF "/${compiler##*/}" dist/generated/prisma/internal/class.js || rm "$compiler"; \
    done \
 && find node_modules -type d -empty -delete

FROM ${NODE_IMAGE}
ENV NODE_ENV=production CONSOLE_HOST=0.0.0.0 MALLOC_ARENA_MAX=1
WORKDIR /app
COPY --from=modules /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY bin ./bin
COPY assets ./assets
COPY locales ./locales
COPY prisma ./prisma
USER node
EXPOSE 8080
# For the service with the console; a process without it needs another check, or none.
HEALTHCHECK --interval=15s --timeout=15s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.CONSOLE_PORT || 8080}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is the first process, without a shell or npm in between, so SIGTERM reaches it.
# The small young generation, the small growth of the heap and the one arena of malloc keep what a pull adds to the
# memory small; see docs/performance.md.
ENTRYPOINT ["node", "--max-semi-space-size=2", "--heap-growing-percent=50", "--enable-source-maps", "bin/conciliation.js"]
CMD ["start"]
