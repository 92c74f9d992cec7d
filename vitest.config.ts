import { defineConfig } from 'vitest/config';

export default defineConfig({
  // Node loads graphql's CommonJS build; Vite would load its ES build beside it, and the two do not know each other.
  resolve: { alias: { graphql: 'graphql/index.js' } },
  test: {
    include: ['test/**/*.test.ts'],
    restoreMocks: true,
    unstubEnvs: true,
  },
});
