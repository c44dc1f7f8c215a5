/** Marks in the layers that carry bytes: cryptography, delivery, channels, connections, endpoints. */

import type { MarkedFile } from './marks.ts'

export const BYTE_MARKS: readonly MarkedFile[] = [
  [
    'core/crypto/key-ring.ts',
    [
      ['a packet arrives twice', "if (freshness !== 'new') return freshness", "freshness === 'duplicate'"],
      ['a packet of the old epoch is opened', 'opener.window.mark(sequence)', 'opener.key.epoch !== this.#newestEpoch'],
      [
        'the peer uses the new keys',
        'opener.window.mark(sequence)',
        '!this.#isConfirmed && opener.key.epoch === this.#newestEpoch',
      ],
      [
        'a packet of a discarded epoch',
        "if (opener === undefined || (opener.key.epoch & 0xff) !== epochByte) return 'epoch'",
        'opener === undefined || (opener.key.epoch & 0xff) !== epochByte',
      ],
      ['a forgery', 'this.forgeries++\n', 'true'],
      ['a forgery while two epochs are open', 'this.forgeries++\n', 'this.openEpochs === 2'],
      [
        'keys are worn by time',
        "if (now >= this.#epochBeganAt + afterMs) return 'time'",
        'now >= this.#epochBeganAt + afterMs',
      ],
      [
        'keys are worn by packets',
        'if (this.#sealing.packetsSealed >= afterPackets',
        'this.#sealing.packetsSealed >= afterPackets',
      ],
      [
        'keys are worn by packets of the peer',
        'if (this.#sealing.packetsSealed >= afterPackets',
        'opener.key.packetsOpened >= afterPackets && this.#sealing.packetsSealed < afterPackets',
      ],
      ['keys are replaced for the third time', 'this.#newestEpoch++\n', 'this.#newestEpoch >= 2'],
    ],
  ],
  [
    'core/crypto/rekey.ts',
    [['both sides offer keys at once', "if (this.#ring.role === 'server') return 'ok'", 'true']],
  ],
  [
    'core/crypto/replay-window.ts',
    [
      ['packets are skipped', 'this.#newest = sequence\n', 'sequence > this.#newest + 1'],
      ['more than thirty packets are skipped', 'this.#newest = sequence\n', 'sequence > this.#newest + 30'],
    ],
  ],
  [
    'core/connection/control.ts',
    [
      [
        'a message about keys is lost',
        'if (sequence === this.#ridesIn) this.#ridesIn = NONE',
        'sequence === this.#ridesIn',
      ],
      ['a message about keys arrives twice', "if (ahead >= 0x80) return 'ok'", 'ahead >= 0x80'],
      ['a path answers', 'this.#hasReply = false\n    return nonce', 'true'],
      [
        'a path answers with another number than it was asked with',
        'this.#hasReply = false\n    return nonce',
        '!nonce.every((byte, index) => byte === this.#reply[index])',
      ],
    ],
  ],
  [
    'core/delivery/ack-window.ts',
    [
      ['a packet is marked late', 'const bit = -distance - 1\n', 'distance < 0'],
      ['a packet is marked more than 32 late', 'const bit = -distance - 1\n', 'distance < -32'],
      ['a packet arrives too late to be acknowledged', 'if (hasFrames) this.#owe(now)', 'distance < -64'],
      ['acknowledgements leap', 'this.#latest = sequence\n', 'distance > 64'],
      ['acknowledgements move by half of the block', 'this.#latest = sequence\n', 'distance > 31 && distance < 64'],
    ],
  ],
  [
    'core/delivery/sent-packets.ts',
    [
      [
        'a packet that was given up is acknowledged',
        'if (this.#fate[at] === LOST) this.#fate[at] = DELIVERED',
        'this.#fate[at] === LOST',
      ],
      [
        'an acknowledgement says nothing new',
        'if (this.#fate[latest & MASK] === DELIVERED ||',
        'this.#fate[latest & MASK] === DELIVERED',
      ],
      [
        'the ack delay of a peer exceeds its field',
        'if (this.#fate[latest & MASK] === DELIVERED ||',
        'delayUnits === ACK_DELAY_SATURATED',
      ],
      [
        'a packet is given up because others overtook it',
        'this.#settle(now, sequence, LOST)\n      } else',
        'isOvertaken',
      ],
      ['a packet is given up by time alone', 'this.#settle(now, sequence, LOST)\n      } else', '!isOvertaken'],
    ],
  ],
  [
    'core/delivery/reassembly.ts',
    [
      [
        'fragments of two messages are held at once',
        "if (known !== undefined && known.last !== last) return 'broken'",
        'known === undefined && this.openCount > 0',
      ],
      [
        'a fragment overtakes another',
        "if (known !== undefined && known.last !== last) return 'broken'",
        'known !== undefined && index < known.parts && known.blocks[index] < 0',
      ],
      ['an unfinished large message is abandoned', 'this.abandonedCount++\n      this.#close(group)', 'true'],
      ['a large message is complete', 'this.#complete = group\n', 'true'],
    ],
  ],
  [
    'core/channel/reliable-sender.ts',
    [
      ['a reliable message is lost', 'this.#fate[id & MASK] = QUEUED\n      this.#queued++', 'true'],
      [
        'a reliable message is lost after a later one has arrived',
        'this.#fate[id & MASK] = QUEUED\n      this.#queued++',
        'this.#fate[(id + 1) & MASK] === DELIVERED && id + 1 < this.#next',
      ],
      [
        'a reliable message is delivered before an earlier one',
        'if (this.#isRiding(id, sequence)) this.#fate[id & MASK] = DELIVERED',
        'this.#isRiding(id, sequence) && id > this.#oldest && this.#fate[this.#oldest & MASK] !== DELIVERED',
      ],
    ],
  ],
  [
    'core/channel/reliable-ordered.ts',
    [
      ['an ordered message arrives twice', 'if (isKnown || !hasRoom) {', 'isKnown'],
      [
        'an ordered message waits for one before it',
        'if (isKnown || !hasRoom) {',
        '!isKnown && hasRoom && id > this.oldest',
      ],
    ],
  ],
  [
    'core/channel/reliable-unordered.ts',
    [
      ['an unordered message arrives twice', 'if (isKnown || !this.#unread.canHold(length)) {', 'isKnown'],
      [
        'an unordered message overtakes',
        'if (isKnown || !this.#unread.canHold(length)) {',
        '!isKnown && id > this.oldest',
      ],
    ],
  ],
  [
    'core/channel/unreliable.ts',
    [['a sequenced message is stale', 'if (!isStale) this.#newestSequence = sequence', 'isStale']],
  ],
  [
    'core/channel/large-channel.ts',
    [['a large message is fragmented', 'if (this.#cutBytes < length) continue', '!isWhole']],
  ],
  [
    'core/connection/connection.ts',
    [
      ['a path moves', "this.#transition('moved')", 'true'],
      ['a path moves while keys are offered', "this.#transition('moved')", 'this.#control.rekey?.isOffering === true'],
      ['a path moves while two epochs are open', "this.#transition('moved')", 'this.#ring?.openEpochs === 2'],
      ['a peer sends from another address', 'if (!isReply || from !== this.#path.address) {', '!isReply'],
      [
        'a path answers that is no longer checked',
        'if (!isReply || from !== this.#path.address) {',
        'isReply && from !== this.#path.address',
      ],
      [
        'both sides say goodbye at once',
        'if (reason === undefined) this.stats.drops.malformed++',
        "this.#state === 'disconnecting'",
      ],
      ['a handshake is given up', 'if (this.#opening.hasMetImpostor)', 'true'],
      ['silence ends a connection', "this.#lose('timed-out')", 'true'],
      [
        'silence ends a connection whose keys are being replaced',
        "this.#lose('timed-out')",
        'this.#ring?.openEpochs === 2',
      ],
      [
        'a connection is closed while its path is in doubt',
        'this.#flow.abandon(now)\n    this.#farewell',
        "this.#path.address !== ''",
      ],
    ],
  ],
  [
    'core/connection/path-check.ts',
    [
      ['an old packet comes from another address', 'if (!isNewest) return\n', '!isNewest'],
      ['a path in doubt is followed by another', 'if (!isNewest) return\n', "isNewest && this.address !== ''"],
      ['a path check is given up', 'this.clear()\n      return false', 'true'],
    ],
  ],
  [
    'core/connection/packet-flow.ts',
    [
      ['a packet is accepted and not acknowledged', "if (frames === 'ok') this.#acks.mark", "frames === 'no-ack'"],
      ['the body of a packet is malformed', "if (frames === 'ok') this.#acks.mark", "frames === 'broken'"],
      [
        'a flush takes more than one packet',
        'const isDone = sourceSet === 0',
        'this.#flushPackets > 1 && sourceSet !== 0',
      ],
    ],
  ],
  [
    'core/endpoint/routes.ts',
    [
      ['a guest takes the place of another', 'this.#guests[place]?.keys.wipe()', 'this.#guests[place] !== undefined'],
      ['a guest becomes a connection', 'this.#seated++', 'true'],
    ],
  ],
  ['core/endpoint/resets.ts', [['a stray packet is answered with a reset', 'this.#left--', 'true']]],
  ['core/endpoint/admission.ts', [
    ['an acceptance is repeated', 'known.receivedAt = now\n      this.#say(from, known.accepted)', 'true'],
    ['a cookie is old, or of another address', 'this.drops.cookie++', 'true'],
    ['another game is refused', "this.#refuse(now, asked, 'schema')", 'true'],
    ['no seat is left', "this.#refuse(now, asked, 'full')\n      return\n    }\n    const handle", 'true'],
  ]],
]
