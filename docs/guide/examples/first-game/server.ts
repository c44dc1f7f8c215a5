import { serve } from 'tickwire/node'
import { game } from './game.ts'

const host = await serve(game, {
  port: Number(process.env.PORT ?? 4000),
  static: './public',
  onJoined: (peer) => console.log(`player ${peer.id} is here`),
  onLeft: (peer, reason) => console.log(`player ${peer.id} is gone: ${reason.code}`),
})
console.log(`open ${host.url} in two tabs`)
