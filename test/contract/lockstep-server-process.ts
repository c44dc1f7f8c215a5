/** A server of lockstep matches, as a process of its own. The argument is a folder with pages. */

import { serveLockstep } from 'tickwire/node'
import { game } from '../sim/lockstep-game.ts'

const [, , folder] = process.argv
const serving = await serveLockstep(
  { match: { game, resumeMs: 5000 } },
  { port: 0, address: '127.0.0.1', webrtc: false, webtransport: false, ...(folder && { static: folder }) },
)
const { port } = new URL(serving.url)
console.log(`http http://127.0.0.1:${port} udp udp://127.0.0.1:${serving.info.udp?.port}`)
