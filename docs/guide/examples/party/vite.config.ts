/** docs/guide/rooms.md: pages of Vite ask the game server under Vite's own address. */

import { defineConfig } from 'vite'

const target = `http://localhost:${process.env.PORT ?? 4000}`

export default defineConfig({
  server: { proxy: { '/tickwire': { target, ws: true } } },
  build: { target: 'es2022' },
})
