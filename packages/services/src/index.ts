/** The door of `@tickwire/services`, for the command `tickwire` and for programs. */

export { runService, SERVICES } from './cli/run.ts'
export type { Service, ServiceWorld } from './cli/service.ts'
export type { Option, OptionKind, OptionTable, OptionValues } from './cli/options.ts'
export {
  RENDEZVOUS_PORT_DEFAULT, serveRendezvous, type RendezvousOptions, type ServingRendezvous,
} from './rendezvous/serve-rendezvous.ts'
export type { KnownRelay } from './rendezvous/relay-issuer.ts'
export type { RendezvousCounts } from './rendezvous/routes.ts'
export { serveAll, type ServeAllOptions, type ServingAll } from './all/serve-all.ts'
export { skillWindow, type Group, type Propose, type SkillWindowOptions, type Ticket } from './fleet/propose.ts'
export { FLEET_PORT_DEFAULT, serveFleet, type FleetServiceOptions, type ServingFleet } from './fleet/serve-fleet.ts'
export {
  serveTracker, TRACKER_PORT_DEFAULT, type ServingTracker, type TrackerOptions, type TrackingOptions,
} from './track/serve-tracker.ts'
export type { PublishRule, TrackCounts } from './track/track-routes.ts'
export { ISSUER_PORT_DEFAULT, serveIssuer, type IssuerOptions, type ServingIssuer } from './issue/serve-issuer.ts'
export { openTraces, type Traces, type TracesOptions } from './telemetry/traces.ts'
export { Issuer, type IssuedPurpose, type PublicKey, type TokenRequest } from './issue/issuer.ts'
