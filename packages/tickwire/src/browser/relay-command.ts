/** The messages between a page that hosts a lockstep match and its Worker. */

import type { HostingOptions } from '../core/client/hosted-relay.ts'
import type { LockstepCard } from '../core/order/lockstep-card.ts'

/** What the page sends to the Worker. */
export type RelayCommand =
  | { readonly name: 'open'; readonly card: LockstepCard; readonly rules: RelayRules }
  | { readonly name: 'admit'; readonly port: MessagePort }
  | { readonly name: 'close' }

/** The options of a hosted match that the Worker needs. */
export type RelayRules = { readonly [K in 'relay' | 'seed' | 'resumeMs' | 'observers']: HostingOptions[K] | undefined }
