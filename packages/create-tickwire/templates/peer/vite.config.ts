import { tickwire } from 'tickwire/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  // Runs server.ts beside the page. Its requests begin with /v1.
  plugins: [tickwire({ paths: ['/v1'] })],
  build: { target: 'es2022' },
  worker: { format: 'es' },
  // Vite looks for packages in pages only. Found in the Worker, this one would load the page of a new host again.
  optimizeDeps: { include: ['tickwire/worker'] },
})
