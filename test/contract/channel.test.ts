import type { Channel } from '../../packages/tickwire/src/core/channel/channel.ts'
import { ReliableOrderedChannel } from '../../packages/tickwire/src/core/channel/reliable-ordered.ts'
import { ReliableUnorderedChannel } from '../../packages/tickwire/src/core/channel/reliable-unordered.ts'
import { UnreliableChannel } from '../../packages/tickwire/src/core/channel/unreliable.ts'
import { channelContract } from './channel.contract.ts'

const RULES = '[CHAN1, CHAN2, CHAN3, CHAN4, CHAN5, CHAN6]'
const channels: Record<string, () => Channel> = {
  unreliable: () => new UnreliableChannel('unreliable'),
  sequenced: () => new UnreliableChannel('sequenced'),
  unordered: () => new ReliableUnorderedChannel(),
  ordered: () => new ReliableOrderedChannel(),
}

for (const [name, make] of Object.entries(channels)) channelContract(`${RULES} ${name}`, make)
