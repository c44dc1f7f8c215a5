/** The "./ecs" entry point: the objects of a view as entities of an ECS, as sprites or as meshes. */

export { mirrorBitecs, type Bitecs, type BitecsComponents } from './bitecs.ts'
export { mirrorKoota, type KootaTraits, type KootaWorld } from './koota.ts'
export { mirrorMiniplex, type MiniplexComponent, type MiniplexEntity, type MiniplexWorld } from './miniplex.ts'
export { mirror, Mirror, type MirrorSource, type MirrorTarget } from './mirror.ts'
