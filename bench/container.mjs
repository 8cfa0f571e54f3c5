// How the image starts Node (see the Dockerfile, and docs/performance.md for what it wins).

export const CONTAINER_FLAGS = ['--max-semi-space-size=2'];
export const CONTAINER_ENVIRONMENT = { MALLOC_ARENA_MAX: '1' };
