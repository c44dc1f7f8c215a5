/**
 * The dependency rule, as data. `tools/tidy` holds every import to it; docs/architecture.md draws it.
 *
 * Bytes and game state never see each other: replication can be tested without a network and a relay be built without a
 * world. They meet in `packet/frame-source.ts` as interfaces, and in `game` for real.
 */

// #region folders
/** Each may import the ones before it. */
const GROUND = ['base', 'bits', 'schema', 'codec', 'packet', 'order'] as const

/** Each may import the ground, and the ones before it. */
const BYTES = ['crypto', 'delivery', 'channel', 'connection', 'endpoint', 'nat', 'listing'] as const

/** Each may import the ground, and the ones before it: replication reads the world's Timeline (docs/adr/0009). */
const GAME_STATE = [
  'world',
  'time',
  'replication',
  'bandwidth',
  'predict',
  'interpolate',
  'rewind',
  'rpc',
  'replay',
  'lockstep',
] as const

/** May import the ground and the bytes, and no game state: it sees a match as an interface (docs/adr/0034). */
const ROOMS = ['rooms'] as const

/** A protocol of others: its codec stands on the ground alone, its sessions on the bytes too. */
const FOREIGN = ['rtype'] as const
const FOREIGN_SESSIONS = ['rtype-session'] as const

/** May import the ground only: it orders what players send, and steps nothing (docs/adr/0045). */
const RELAY = ['order-relay'] as const

/** An order relay in a room, with its connections. It may import no game state: a relay has no game (docs/adr/0045). */
const RELAYING = ['relaying'] as const

/** The only folder that imports all of these. */
const MEETING = ['game'] as const

/** The room of a client, in a page and in Node. It may import everything before it (docs/adr/0040). */
const CLIENT = ['client'] as const
// #endregion

/** For each folder of core, the other folders of core it may import. */
export const CORE_FOLDERS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...GROUND.map((folder, at) => [folder, GROUND.slice(0, at)] as const),
  ...BYTES.map((folder, at) => [folder, [...GROUND, ...BYTES.slice(0, at)]] as const),
  ...GAME_STATE.map((folder, at) => [folder, [...GROUND, ...GAME_STATE.slice(0, at)]] as const),
  ...FOREIGN.map((folder) => [folder, [...GROUND]] as const),
  ...FOREIGN_SESSIONS.map((folder) => [folder, [...GROUND, ...BYTES, ...FOREIGN]] as const),
  ...ROOMS.map((folder) => [folder, [...GROUND, ...BYTES]] as const),
  ...RELAY.map((folder) => [folder, [...GROUND]] as const),
  ...RELAYING.map((folder) => [folder, [...GROUND, ...BYTES, ...ROOMS, ...RELAY]] as const),
  ...MEETING.map((folder) => [folder, [...GROUND, ...BYTES, ...GAME_STATE, ...ROOMS, ...RELAY, ...RELAYING]] as const),
  ...CLIENT.map((folder) => [folder, [...GROUND, ...BYTES, ...GAME_STATE, ...ROOMS, ...RELAY, ...MEETING]] as const),
])

interface Edge {
  readonly imports: readonly string[]
  readonly packages: readonly string[]
}

/** The primitives of cryptography in plain JavaScript: all that core takes from elsewhere (docs/adr/0012). */
const NOBLE = [
  '@noble/ciphers/aes.js',
  '@noble/ciphers/chacha.js',
  '@noble/curves/abstract/montgomery.js',
  '@noble/curves/ed25519.js',
  '@noble/hashes/hmac.js',
  '@noble/hashes/legacy.js',
  '@noble/hashes/sha2.js',
] as const

/** The doors of the package, each with the part of the engine whose index.ts it is. */
export const DOORS: ReadonlyMap<string, string> = new Map([
  ['tickwire', 'core'],
  ['tickwire/engine', 'engine'],
  ['tickwire/lockstep', 'lockstep'],
  ['tickwire/node', 'node'],
  ['tickwire/browser', 'browser'],
  ['tickwire/testing', 'testing'],
  ['tickwire/devtools', 'devtools'],
  ['tickwire/worker', 'worker'],
  ['tickwire/rtype', 'rtype'],
  ['tickwire/nat', 'nat'],
  ['tickwire/vite', 'vite'],
  ['tickwire/ecs', 'ecs'],
])

/** The doors that a game's `game.ts` may import: they are the same on every platform, and contain no host. */
const GAME_DOORS: readonly string[] = ['tickwire', 'tickwire/lockstep']

/** The edges of the engine: what else of the engine each may import, and which packages (`node:` is Node itself). */
export const EDGES: ReadonlyMap<string, Edge> = new Map<string, Edge>([
  ['core', { imports: [], packages: NOBLE }],
  ['engine', { imports: ['core'], packages: [] }],
  ['rtype', { imports: ['core'], packages: [] }],
  ['nat', { imports: ['core'], packages: [] }],
  ['lockstep', { imports: ['core'], packages: [] }],
  ['node', { imports: ['core'], packages: ['node:', 'ws'] }],
  ['browser', { imports: ['core'], packages: [] }],
  ['testing', { imports: ['core'], packages: [] }],
  ['devtools', { imports: ['core', 'browser'], packages: [] }],
  ['worker', { imports: ['core', 'browser'], packages: [] }],
  ['vite', { imports: [], packages: ['node:'] }],
  ['ecs', { imports: ['core'], packages: [] }],
  ['cli', { imports: ['core', 'node'], packages: ['node:'] }],
])

/** The packages that services may import, and the doors of the engine (docs/adr/0054). */
const SERVICES_PACKAGES: readonly string[] = [
  'node:', '@opentelemetry/api', '@opentelemetry/sdk-node',
  '@fastify/rate-limit', '@fastify/swagger', '@fastify/type-provider-typebox',
  '@scure/bip39/wordlists/english.js', 'fastify', 'ioredis', 'prom-client',
  'typebox', 'ws', 'tickwire', 'tickwire/engine', 'tickwire/lockstep', 'tickwire/nat', 'tickwire/node',
]

/**
 * Folders of core whose results must be the same bits on every engine. Bits and schema are among them: what they
 * quantise is what every peer steps from.
 */
export const SIMULATION_FOLDERS: readonly string[] = ['base', 'bits', 'schema', 'codec', ...GAME_STATE, ...MEETING]

/** Files that are started, found by their name or opened by a page, and so need not be imported. */
export const ENTRY_POINTS: readonly RegExp[] = [
  /^packages\/[^/]+\/src\/[^/]+\/index\.ts$/,
  /^packages\/services\/src\/index\.ts$/,
  /^packages\/[^/]+\/src\/cli\/inspect-page\/page\.js$/,
  /\.(test|test-d|fuzz|bench|config)\.ts$/,
  /^(games|docs\/guide\/examples)\/[^/]+\/(server|client)\.ts$/,
  // A project of its own, which the program of the package copies.
  /^packages\/create-tickwire\/templates\//,
  /^packages\/[^/]+\/bin\/[^/]+\.mjs$/,
  /^packages\/[^/]+\/build\/(build|pack)\.ts$/,
  /^tools\/run\.mjs$/,
  /^tools\/commands\/[^/]+\.ts$/,
  /^tools\/(gen|verify|capture)-[^/]+\.ts$/,
  /^test\/sim\/swarm\.ts$/,
  // Processes that others fork.
  /-process\.ts$/,
]

const ENGINE = 'packages/tickwire/src/'
const SERVICES = 'packages/services/src/'
const DOOR_FILE = /\/src\/[^/]+\/index\.ts$/

/** Where a file of the engine stands: its part (`core`, `node`, …) and, in core, its folder. */
export function placeOf(path: string): { readonly part: string; readonly folder: string | undefined } | undefined {
  if (!path.startsWith(ENGINE)) return undefined
  const [part = '', folder, ...rest] = path.slice(ENGINE.length).split('/')
  return { part, folder: part === 'core' && rest.length > 0 ? folder : undefined }
}

/** Why `from` may not import the file `to`; undefined when it may. Paths are relative to the repository. */
export function whyNotImport(from: string, to: string): string | undefined {
  const source = placeOf(from)
  const target = placeOf(to)
  if (source === undefined) return whyNotFromOutside(from, target !== undefined)
  if (target === undefined) {
    if (to.startsWith('test/') && /\.test(-d)?\.ts$/.test(from)) return undefined
    return 'the engine imports nothing outside itself'
  }
  const edge = EDGES.get(source.part)
  if (edge === undefined) return `${source.part} has no place in tools/layers.ts`
  if (source.part !== target.part) {
    if (DOOR_FILE.test(to)) return 'a door is for users: parts of the engine import the file itself'
    return edge.imports.includes(target.part) ? undefined : `${source.part} may not import ${target.part}`
  }
  if (source.part !== 'core' || source.folder === undefined || source.folder === target.folder) return undefined
  if (target.folder === undefined) return 'the door is for users: core imports its own files directly'
  const allowed = CORE_FOLDERS.get(source.folder)
  if (allowed === undefined) return `${source.folder} has no place in tools/layers.ts`
  return allowed.includes(target.folder) ? undefined : `${source.folder} may not import ${target.folder}: uphill`
}

function whyNotFromOutside(from: string, isEngine: boolean): string | undefined {
  if (from.startsWith(SERVICES) && isEngine && !/\.test\.ts$/.test(from))
    return 'services are users: they import the doors by name'
  return from.startsWith('games/') && isEngine ? 'games are users: they import the doors by name' : undefined
}

/** Why `from` may not import the package (or `node:` module) `specifier`; undefined when it may. */
export function whyNotPackage(from: string, specifier: string): string | undefined {
  if (/\.test(-d)?\.ts$/.test(from)) return undefined
  if (/^(?:games|docs\/guide\/examples)\/[^/]+\/game\.ts$/.test(from) && !GAME_DOORS.includes(specifier)) {
    return `game.ts runs in servers, browsers and replays alike: it imports only ${GAME_DOORS.join(' and ')}`
  }
  const place = placeOf(from)
  if (place === undefined && !from.startsWith(SERVICES)) return undefined
  const allowed = place === undefined ? SERVICES_PACKAGES : EDGES.get(place.part)?.packages ?? []
  const isAllowed = allowed.some((name) => (name.endsWith(':') ? specifier.startsWith(name) : specifier === name))
  return isAllowed ? undefined : `${place?.part ?? 'services'} may not import the package ${specifier}`
}
