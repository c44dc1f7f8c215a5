/** The "./vite" entry point: a plugin for Vite that runs the game server beside the page, in development. */

export { tickwire } from './plugin.ts'
export type { TickwirePlugin, TickwirePluginOptions, ViteEnvironment, ViteHttpServer } from './plugin.ts'
