/**
 * A relay of a group, as a process of its own. Arguments: its number, the ports of all relays, separated by commas, a
 * folder with pages, and one for replays. The relay with number n has the identity n + 1, 32 times.
 */

import { bestProvider, serveLockstep } from 'tickwire/node'
import { game } from '../sim/lockstep-game.ts'

const [, , number = '0', ports = '', folder, replayFolder] = process.argv
const identityOf = (relay: number): Uint8Array => new Uint8Array(32).fill(relay + 1)
const relays = ports.split(',').map((port, relay) => ({
  url: `http://127.0.0.1:${port}`, key: bestProvider().importSigning(identityOf(relay)).publicKey,
}))
const serving = await serveLockstep({ match: { game, resumeMs: 20_000 } }, {
  port: Number(ports.split(',')[Number(number)]), address: '127.0.0.1', webrtc: false, webtransport: false, relays,
  security: { identity: identityOf(Number(number)) }, ...(folder !== undefined && { static: folder }),
  ...(replayFolder !== undefined && { replayFolder }),
  // Pages of the first relay play on at the others.
  origins: relays.map(({ url }) => url),
})
console.log(`ready ${serving.url} udp://127.0.0.1:${serving.info.udp?.port}`)
