# syntax=docker/dockerfile:1

# Builds with everything, ships without: no Prisma command line, no TypeScript, no embedded PostgreSQL.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run build

FROM node:24-bookworm-slim AS modules
WORKDIR /app
COPY package.json package-lock.json ./
# Optional packages are the embedded PostgreSQL; a container has DATABASE_URL.
RUN npm ci --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

FROM node:24-bookworm-slim
ENV NODE_ENV=production CONSOLE_HOST=0.0.0.0 LOG_FORMAT=json DATA_DIR=/tmp/conciliation
WORKDIR /app
COPY --from=modules /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY bin ./bin
COPY prisma ./prisma
RUN mkdir /run/sandbox && chown node:node /run/sandbox
USER node
EXPOSE 8080
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8080/healthz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Node itself is the first process, so SIGTERM reaches it; it starts no children here.
ENTRYPOINT ["node", "--enable-source-maps", "bin/conciliation.js"]
CMD ["start"]
