/**
 * A server that learns, for the learning tests. Its argument is JSON: the learning options, and whether it has rooms.
 * It prints its address, its log, and the table versions of its players, room by room.
 *
 * `faults` are modules, as data URLs, that are loaded into the learning process before anything else, one per study,
 * until there are no more. The learning process gets them with the arguments of the server. Two are not modules:
 * `no-argument` cannot be passed on, and with `no-program` there is no program to start.
 */

import { angle, bool, defineGame, entity, fixed, math, u8 } from 'tickwire'
import { serve, serveRooms, type LearnOptions, type ServeLog } from 'tickwire/node'

export interface LearningServer extends LearnOptions {
  readonly hasRooms?: boolean
  readonly faults?: readonly string[]
}

const TICK_RATE = 60
const Boat = entity(
  { x: fixed(-500, 500, 0.01), y: fixed(-500, 500, 0.01), heading: angle(12), hp: u8 },
  { name: 'Boat' },
)

const game = defineGame({
  tickRate: TICK_RATE, input: { idle: bool }, entities: [Boat],
  step(world) {
    if ([...world.each(Boat)].length === 0)
      for (let count = 0; count < 24; count++) world.spawn(Boat, { x: 10 * count, heading: count, hp: 100 })
    for (const boat of world.each(Boat)) {
      boat.heading += 0.01 + math.sin(world.tick / 30 + boat.x) * 0.01
      boat.x += math.cos(boat.heading) * 0.1
      boat.y += math.sin(boat.heading) * 0.1
    }
  },
})

const { hasRooms = false, faults = [], ...learn } = JSON.parse(process.argv[2] ?? '{}') as LearningServer
const { execArgv, execPath } = process
let studies = 0

/** The fault of the next study. */
function arm(): void {
  const fault = faults[studies++]
  process.execArgv =
    fault === undefined || fault === 'no-program'
      ? execArgv
      : [...execArgv, '--import', fault === 'no-argument' ? 'a\0b' : fault]
  process.execPath = fault === 'no-program' ? `${execPath}-that-is-not-there` : execPath
}

const log: ServeLog = ({ level, event, message }) => {
  console.log(`${level} ${event}: ${message}`)
  if (event !== 'learning-failed') return
  for (const { members, world } of serving.rooms.rooms) console.log(`${members.length} play on in tick ${world.tick}.`)
  arm()
}

arm()
const options = { port: 0, webrtc: false, webtransport: false, udp: false, learn, log } as const
const serving = hasRooms ? await serveRooms({ regatta: { game, capacity: 2 } }, options) : await serve(game, options)
console.log(`at ${serving.url}`)
let printed = ''
setInterval(() => {
  const versions = serving.rooms.rooms
    .map(({ members, retraining }) => members.map(({ id }) => retraining.versionOf(id)).join())
    .join(';')
  if (versions !== printed) console.log(`versions ${versions}.`)
  printed = versions
}, 50)
