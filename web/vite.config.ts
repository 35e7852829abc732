import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'

// File names have no hashes, since dist is committed and the server sends an ETag. All addresses are
// relative, so that the page works behind a proxy that adds a path before it. The proxy here is for
// `npm run dev` with a running `collocate serve`.
export default defineConfig({
  base: './',
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
