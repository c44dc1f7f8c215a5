/** The "./testing" door: play a match in a test, in simulated time and chosen weather, from one seed. */

export { MemoryLink, type LinkStats, type Weather } from './memory-link.ts'
export { Pair, type PairOptions } from './pair.ts'
export { SimClock, type SimActor } from './sim-clock.ts'
export { Dice } from './sim-entropy.ts'
export { simulate, Simulation, type SimulateOptions } from './simulate.ts'
export { StubCrypto } from './stub-suite.ts'
