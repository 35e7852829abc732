import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'

// File names have no hashes, since dist is committed and the server sends an ETag. The proxy is for
// `npm run dev` with a running `collocate serve`.
export default defineConfig({
  plugins: [svelte()],
  build: {
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    rollupOptions: {
      output: {
        entryFileNames: 'assets/[name].js',
        chunkFileNames: 'assets/[name].js',
        assetFileNames: 'assets/[name][extname]',
      },
    },
  },
  server: { proxy: { '/v1': 'http://127.0.0.1:8080' } },
})
