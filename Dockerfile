# One image for every role: `serve`, `schedule`, `start` and all other commands. How roles are put together, and what each
# set-up survives, stands in pipelines/README.md; compose.yaml is a fleet of them.

# The Node that package.json pins; with glibc, which DuckDB's library needs.
FROM node:24.21.0-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# By the hashes of the lock file, and no package runs a script. Node is in the image already: its package goes again.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund && rm -rf node_modules/node-linux-*

FROM node:24.21.0-bookworm-slim
WORKDIR /app
# src/launch.mjs is left out on purpose: it installs packages and finds the pinned Node, both of which the image has. What
# else it does is done here: threads for DuckDB's queries beside those for files, and a folder for compiled code. That
# folder and all else that is not data lies in /tmp, so the root may be read-only with a tmpfs there.
ENV NODE_ENV=production \
    OFFERLINE_DATA=/data \
    UV_THREADPOOL_SIZE=16 \
    NODE_COMPILE_CACHE=/tmp/node-compile-cache
COPY --from=packages /app/node_modules ./node_modules
# Readable for all, whatever the umask of who checked it out.
COPY --chmod=644 package.json ./
COPY --chmod=755 src ./src
COPY --chmod=755 pipelines ./pipelines
COPY --chmod=755 sql ./sql
# `offerline status` for who looks into a container, and for health checks. /data is the node user's, and so is a new volume.
RUN printf '#!/bin/sh\nexec node /app/src/cli/main.ts "$@"\n' > /usr/local/bin/offerline \
    && chmod 755 /usr/local/bin/offerline \
    && install -d -m 750 -o 1000 -g 1000 /data
# The user node, by number: so Kubernetes sees that it is not root.
USER 1000:1000
VOLUME /data
# Of the service and of the tracker, which listens here for others where `tracker.host` of offerline.json says so.
EXPOSE 8080 8082
STOPSIGNAL SIGTERM
# Of a service. A `schedule` alone has no port: give it `offerline status`, as compose.yaml does.
HEALTHCHECK --interval=10s --timeout=5s --start-period=120s --retries=3 \
    CMD ["node", "-e", "fetch('http://127.0.0.1:8080/readyz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Without a shell between, so that signals arrive. `--host` is the service's alone.
ENTRYPOINT ["node", "/app/src/cli/main.ts"]
CMD ["start", "--host", "0.0.0.0"]
