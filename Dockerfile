# The gateway on one machine: the Worker in workerd, with its databases, objects and files in /data.
FROM node:24-slim AS build
WORKDIR /gateway
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
RUN npm run build && npm prune --omit=dev

FROM node:24-slim
ENV NODE_ENV=production HOST=0.0.0.0 PORT=8787 STATE_DIR=/data
WORKDIR /gateway
COPY --from=build /gateway/package.json ./
COPY --from=build /gateway/node_modules ./node_modules
COPY --from=build /gateway/dist ./dist
COPY --from=build /gateway/src/local ./src/local
COPY --from=build /gateway/src/support ./src/support
RUN mkdir /data && chown node:node /data
USER node
VOLUME /data
EXPOSE 8787
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/ready`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "src/local/serve.ts"]
