# An image of the worker: `docker build -t tidemark .`, or with another base by `--build-arg BASE_IMAGE=…`. The app and its
# config are mounted, or added by an image that begins with this one. See docs/deploy/compose.yaml.
ARG BASE_IMAGE=node:24-slim

FROM ${BASE_IMAGE} AS source
WORKDIR /opt/tidemark
COPY package.json package-lock.json .npmrc ./
COPY tools/node24/package.json tools/node24/

FROM source AS build
RUN npm ci --workspaces=false --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY tools/clean.ts tools/clean.ts
COPY src src
RUN npm run build

FROM source AS dependencies
RUN npm ci --workspaces=false --omit=dev --ignore-scripts

FROM ${BASE_IMAGE} AS runtime
ENV NODE_ENV=production
WORKDIR /opt/tidemark
COPY --from=dependencies /opt/tidemark/node_modules node_modules
COPY --from=build /opt/tidemark/dist dist
COPY package.json LICENSE ./
# Where the app and its config are looked for, and where an embedded file would stand.
WORKDIR /srv
USER node
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "/opt/tidemark/dist/cli/main.js"]
CMD ["run", "--config", "/srv/worker.yaml"]
