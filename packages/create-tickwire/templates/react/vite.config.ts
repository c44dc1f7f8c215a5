import react from '@vitejs/plugin-react'
import { tickwire } from 'tickwire/vite'
import { defineConfig } from 'vite'

export default defineConfig({
  // Runs server.ts beside the page, and starts it again when you save one of its files. The match goes on.
  plugins: [react(), tickwire()],
  build: { target: 'es2022' },
})
