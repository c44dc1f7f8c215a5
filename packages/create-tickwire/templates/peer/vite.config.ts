import { tickwire } from 'tickwire/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  // Runs server.ts beside the page. Its requests begin with /v1.
  plugins: [tickwire({ paths: ['/v1'] })],
  build: { target: 'es2022' },
  worker: { format: 'es' },
})
