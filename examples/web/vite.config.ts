import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const page = (name: string) => fileURLToPath(new URL(`${name}.html`, import.meta.url));

export default defineConfig({
  root: fileURLToPath(new URL('./', import.meta.url)),
  appType: 'mpa',
  plugins: [react()],
  build: {
    rolldownOptions: { input: ['index', 'apollo', 'urql'].map(page) },
    emptyOutDir: true,
    // React with a GraphQL client and its cache has more than 500 KB.
    chunkSizeWarningLimit: 1_000,
  },
});
