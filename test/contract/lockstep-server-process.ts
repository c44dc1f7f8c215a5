/**
 * A server of lockstep matches, as a process of its own. Arguments: a folder with pages; `webrtc` to offer it, or `-`;
 * a folder for reports of desyncs; a folder for replays; `referee` for ranked matches with a referee.
 */

import { GameReferee, RANKED_ROOM, type LockstepGame } from 'tickwire/lockstep'
import { serveLockstep } from 'tickwire/node'
import { game } from '../sim/lockstep-game.ts'

const [, , folder, webrtc, reportFolder, replayFolder, referee] = process.argv
const ranked = { ...RANKED_ROOM, referee: new GameReferee(game as unknown as LockstepGame) }
const serving = await serveLockstep(
  { match: { game, resumeMs: 5000, ...(referee === 'referee' && ranked) } },
  {
    port: 0, address: '127.0.0.1', webtransport: false, ...(webrtc !== 'webrtc' && { webrtc: false }),
    ...(folder && { static: folder }), ...(reportFolder && { reportFolder }),
    ...(replayFolder && { replayFolder }),
  },
)
const { port } = new URL(serving.url)
console.log(`http http://127.0.0.1:${port} udp udp://127.0.0.1:${serving.info.udp?.port}`)
