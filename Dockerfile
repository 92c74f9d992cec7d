FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc tsconfig.json ./
RUN npm ci
COPY src src
COPY scripts scripts
RUN npm run build && npm prune --omit=dev

FROM node:24-slim
WORKDIR /app
# The gateway needs about 65 MB of heap (bench/soak.ts). A low limit makes V8 collect garbage early. Raise it together
# with CACHE_MAX_MB.
ENV NODE_ENV=production HOST=0.0.0.0 NODE_OPTIONS=--max-old-space-size=512
COPY --from=build /app/package.json ./
COPY LICENSE ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
# The only folder that the process writes to.
RUN mkdir .data && chown node:node .data
VOLUME /app/.data
USER node
EXPOSE 4000
HEALTHCHECK --interval=30s --timeout=3s --start-period=10s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 4000}/health`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
# Without a shell or npm, SIGTERM reaches the process.
CMD ["node", "dist/main.js"]
