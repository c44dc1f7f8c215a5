/**
 * The options of a client host, and the parts that a page may leave out.
 */

import type { Entropy } from '../base/entropy.ts'
import type { FaultListener } from '../base/user-code.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { ClientEndpointConfig } from '../endpoint/endpoint-config.ts'
import type { EndpointSecurity } from '../endpoint/endpoint-security.ts'
import type { Endpoint } from '../endpoint/endpoint.ts'
import type { SyncFault } from '../predict/sync-test.ts'
import type { Shape } from '../schema/field.ts'
import type { ClientTrace } from './client-trace.ts'
import type { Game } from './define-game.ts'
import type { StepChecks } from './step-checks.ts'
import type { AuthorityListener, ClientAuthority } from './client-authority.ts'

/** How a client host is made. */
export interface ClientHostOptions {
  /** The source of random bytes for keys and ids. */
  readonly entropy: Entropy
  /** The cryptography for packets. Default: plain JavaScript, which works on every platform. */
  readonly security?: EndpointSecurity
  /** Default: 'player'. A spectator sends no inputs and predicts nothing. */
  readonly role?: 'player' | 'spectator'
  /**
   * For development: records everything that is passed to this client, so that it can be replayed (`replayTrace`).
   * Default: none.
   */
  readonly trace?: ClientTrace
  /**
   * For development: steps every tick again from this many ticks before, and checks that the result is the same.
   * Default: no test.
   */
  readonly syncTest?: number
  /** Called when the sync test fails. Without this option, it throws. */
  readonly onSyncFault?: (fault: SyncFault) => void
  /** For development: checks every predicted tick (`step-checks.ts`). Default: none. */
  readonly checks?: StepChecks
  /** The match has accepted this client. `peer` is valid from now on. */
  readonly onOpened?: () => void
  /** A callback threw. Without this option, `tick` or `drain` throws the error at its end. */
  readonly onError?: FaultListener
  /** A shared object in view has a new owner. 0 is the server. */
  readonly onAuthorityChanged?: AuthorityListener
  /** The connection has ended, with the reason. Called once. */
  readonly onClosed?: (reason: CloseReason) => void
}

/** Parts of a client host that are passed in, so that a page can leave out the code its game does not need. */
export interface ClientParts {
  /** Creates the endpoint of the client. */
  createEndpoint(config: Omit<ClientEndpointConfig, 'security'> & { readonly security?: EndpointSecurity }): Endpoint
  /** Called only if the game has shared objects. */
  createAuthority(game: Game<Shape>, listener: AuthorityListener | undefined): ClientAuthority
}
