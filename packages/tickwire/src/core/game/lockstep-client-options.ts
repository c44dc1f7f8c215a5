/** How a client of a lockstep match is made. */

import type { Entropy } from '../base/entropy.ts'
import type { Tick } from '../base/time.ts'
import type { CloseReason } from '../connection/close-reason.ts'
import type { EndpointSecurity } from '../endpoint/endpoint-security.ts'
import type { CodeSite } from '../lockstep/desync/code-site.ts'
import type { DesyncFinding } from '../lockstep/desync/finding.ts'
import type { RunnerOptions } from '../lockstep/lockstep-runner.ts'
import type { SealSigner } from '../order/tick-sealer.ts'
import type { ClientParts } from './client-host-options.ts'

/** How a client of a lockstep match is made. */
export interface LockstepClientOptions {
  /** The source of random bytes for keys. */
  readonly entropy: Entropy
  /** The cryptography, and which servers are trusted. Default: encrypted. */
  readonly security?: EndpointSecurity
  /** Options of the runner. Default: none. */
  readonly runner?: RunnerOptions
  /** Creates the endpoint. A page passes one that only connects. Default: one that could accept connections too. */
  readonly createEndpoint?: ClientParts['createEndpoint']
  /** The engine and the build of this client, for reports of desyncs. Default: ''. */
  readonly machine?: string
  /** Signs the local player's orders, if the match is recorded. Default: nothing is signed. */
  readonly signer?: SealSigner
  /** Finds the line of the source for a line of a bundle. Default: lines are as the engine names them. */
  readonly sourceLine?: (site: CodeSite) => Promise<CodeSite>
  /** This client differed from the others, and was named or repaired. */
  readonly onFinding?: (finding: DesyncFinding) => void
  /** The relay's report about a desync of any player, as JSON (`DesyncReport`). */
  readonly onReport?: (json: string) => void
  /** The relay has accepted the client. */
  readonly onOpened?: () => void
  /** The match has gone on at another relay, after a tick. */
  readonly onContinued?: (tick: Tick) => void
  /** The connection has ended. With a ticket, `connect` resumes the seat. */
  readonly onClosed?: (reason: CloseReason) => void
}
