"""Verifies the seals of a recorded lockstep match, from docs/wire/RECORDING.md alone. Imports nothing of src.

    python3 verify_replay.py FILE [PUBLIC KEY IN HEX]

Prints one line of JSON: ticks, seals, lost ticks, players that signed, and problems.
"""
import hashlib
import json
import sys

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
I = pow(2, (P - 1) // 4, P)


def recover_x(y, sign):
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(square, (P + 3) // 8, P)
    if (x * x - square) % P:
        x = x * I % P
    if (x * x - square) % P or (x == 0 and sign):
        return None
    return x if x & 1 == sign else P - x


def add(a, b):
    (x1, y1, z1, t1), (x2, y2, z2, t2) = a, b
    e, f = (y1 - x1) * (y2 - x2), (y1 + x1) * (y2 + x2)
    g, h = 2 * t1 * t2 * D, 2 * z1 * z2
    u, v, w, s = f - e, h - g, h + g, f + e
    return (u * v % P, w * s % P, v * w % P, u * s % P)


def times(number, point):
    result = (0, 1, 1, 0)
    while number:
        if number & 1:
            result = add(result, point)
        point = add(point, point)
        number >>= 1
    return result


def decode_point(data):
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    x = recover_x(y, sign) if y < P else None
    return None if x is None else (x, y, 1, x * y % P)


BASE = decode_point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))


def is_signed(key, message, signature):
    point, r, s = decode_point(key), decode_point(signature[:32]), int.from_bytes(signature[32:], "little")
    if point is None or r is None or s >= L:
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    (x1, y1, z1, _), (x2, y2, z2, _) = times(s, BASE), add(r, times(h, point))
    return (x1 * z2 - x2 * z1) % P == 0 and (y1 * z2 - y2 * z1) % P == 0


def sha(data):
    return hashlib.sha256(data).digest()


def varint(data, at):
    value, shift = 0, 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def number(data, at, size):
    return int.from_bytes(data[at : at + size], "little"), at + size


def chunks_of(data):
    at = 12
    while at + 12 <= len(data):
        kind, flags = data[at], data[at + 1]
        tick, length = number(data, at + 2, 6)[0], number(data, at + 8, 4)[0]
        if at + 16 + length > len(data):
            return
        yield kind, flags, tick, data[at + 12 : at + 12 + length]
        at += 16 + length


def ticks_of(body):
    seed, at = varint(body, 0)
    count, at = varint(body, at)
    ticks = []
    while len(ticks) < count:
        empty, orders, at = pair(body, at)
        ticks += [b"\x5a"] * empty
        tick, last = b"\x4b\x01", (0, 0, 0)
        for _ in range(orders):
            player, kind, at = pair(body, at)
            time, at = number(body, at, 2)
            if time == 0xFFFF:
                time, at = number(body, at, 4)
            length, at = varint(body, at)
            tick += b"P" + encoded(player) if player != last[0] else b""
            tick += b"S" + encoded(time) if time != last[1] else b""
            tick += b"T" + bytes([kind]) if kind != last[2] else b""
            tick += b"D" + encoded(length) + body[at : at + length]
            at, last = at + length, (player, time, kind)
        if orders:
            ticks.append(tick)
    return seed, ticks


def pair(data, at):
    low, high, at = data[at] & 15, data[at] >> 4, at + 1
    if low == 15:
        more, at = varint(data, at)
        low += more
    if high == 15:
        more, at = varint(data, at)
        high += more
    return low, high, at


def encoded(value):
    data = b""
    while value > 127:
        data, value = data + bytes([value & 127 | 128]), value >> 7
    return data + bytes([value])


def orders_of(tick):
    """Player, time, type and values of each order of a tick."""
    if tick[:1] == b"\x5a":
        return
    at, player, time, kind = 2, 0, 0, 0
    while at < len(tick):
        tag, at = tick[at : at + 1], at + 1
        if tag == b"P":
            player, at = varint(tick, at)
        elif tag == b"S":
            time, at = varint(tick, at)
        elif tag == b"T":
            kind, at = tick[at], at + 1
        else:
            length, at = varint(tick, at)
            yield player, time, kind, tick[at : at + length]
            at += length


def top_of(row):
    while len(row) > 1:
        pairs = [row[i : i + 2] for i in range(0, len(row), 2)]
        row = [sha(b"\x01" + p[0] + p[1]) if len(p) == 2 else p[0] for p in pairs]
    return row[0]


def check_handover(body, bodies, key, match_head, problems):
    """The last tick that was taken over, and the last one that the relay before signed."""
    events = [tick for tick, each in bodies.items() if any(o[0] == 0 and o[2] == 0xCC for o in orders_of(each))]
    if body is None:
        if events and key:
            problems.append("handover missing")
        return None
    match, relay, tick = body[:16], body[16:48], number(body, 48, 6)[0]
    checkpoint, until = body[55:-64], 0
    if key and not is_signed(key, b"tickwire handover 1\x00" + match_head + body[:-64], body[-64:]):
        problems.append("handover signature")
    if tick + 1 in bodies and max(events, default=0) != tick + 1:
        problems.append("handover event")
    if checkpoint:
        until, offset, label = number(checkpoint, 0, 6)[0], number(checkpoint, 6, 4)[0], b"tickwire ticks 1\x00"
        ticks = [bodies.get(each, b"") for each in range(1, until + 1)]
        chain = sha(label + match)
        for at in range(0, until, 32):
            chain = sha(chain + b"".join(ticks[at : at + 32]))
        is_same = chain == checkpoint[10:42] and offset == sum(map(len, ticks)) and until <= tick
        if not is_same or not is_signed(relay, label + match + checkpoint[:-64], checkpoint[-64:]):
            problems.append("handover checkpoint")
    return {"tick": tick, "signed": until}


def main(path, key):
    data = open(path, "rb").read()
    digests, bodies, images, seals, players, fingerprint, seed = {}, {}, {}, [], [], b"", 0
    handover = None
    for kind, _, tick, body in chunks_of(data):
        if kind == 1:
            _, at = varint(body, 2)
            fingerprint = body[at : at + 8]
        elif kind == 10:
            seed, ticks = ticks_of(body)
            for i, each in enumerate(ticks):
                bodies[tick + i], digests[tick + i] = each, sha(each)
        elif kind == 11:
            images[tick] = body
        elif kind == 12:
            seals.append(body)
        elif kind == 13:
            first, at = varint(body, 0)
            count, at = varint(body, at)
            for i in range(count):
                digests[first + i] = body[at + 32 * i : at + 32 * i + 32]
        elif kind == 16:
            handover = body
        elif kind == 14:
            at = 0
            while at < len(body):
                player, at = varint(body, at)
                until, at = varint(body, at)
                orders, at = varint(body, at)
                players.append((until, player, orders, body[at : at + 32], body[at + 32 : at + 96]))
                at += 96
    problems, before, sealed = [], bytes(32), 0
    for body in seals:
        seal, signature = body[:-64], body[-64:]
        first, at = number(seal, 0, 6)
        last, at = number(seal, at, 6)
        top, previous, at = seal[at : at + 32], seal[at + 32 : at + 64], at + 64
        count, at = number(seal, at, 1)
        for _ in range(count):
            tick, at = number(seal, at, 6)
            if sha(images.get(tick, b"")) != seal[at : at + 32]:
                problems.append(f"image {tick}")
            at += 65
        count, at = number(seal, at, 2)
        roots = {}
        for _ in range(count):
            tick, at = number(seal, at, 6)
            roots[tick], at = seal[at : at + 10], at + 10
        public = seal[at : at + 32]
        key = key or public
        if at + 32 != len(seal) or first != sealed + 1 or previous != before or public != key:
            problems.append(f"chain {first}")
        message = b"tickwire seal 1\x00" + fingerprint + seed.to_bytes(8, "little") + seal
        if not is_signed(key, message, signature):
            problems.append(f"signature {first}")
        leaves = [
            sha(b"\x00" + tick.to_bytes(6, "little") + roots.get(tick, bytes(10)) + digests.get(tick, b""))
            for tick in range(first, last + 1)
        ]
        if top_of(leaves) != top:
            problems.append(f"ticks {first}")
        before, sealed = sha(body), last
    taken = check_handover(handover, bodies, key, fingerprint + seed.to_bytes(8, "little"), problems)
    signed, chains, counts, done = {}, {}, {}, 0
    label = b"tickwire player 1\x00"
    for until, player, orders, public, signature in sorted(players):
        while done < until and done + 1 in bodies:
            done += 1
            for who, time, kind, values in orders_of(bodies[done]):
                if who:
                    start = sha(label + fingerprint + seed.to_bytes(8, "little") + who.to_bytes(4, "little"))
                    head = done.to_bytes(6, "little") + time.to_bytes(4, "little") + bytes([kind])
                    chains[who] = sha(chains.get(who, start) + head + len(values).to_bytes(2, "little") + values)
                    counts[who] = counts.get(who, 0) + 1
        if done < until:
            continue
        message = label + player.to_bytes(4, "little") + until.to_bytes(6, "little") + orders.to_bytes(4, "little")
        if counts.get(player, 0) == orders and is_signed(public, message + chains[player], signature):
            signed[player] = until
        else:
            problems.append(f"player {player}")
    lost = len(digests) - len(bodies)
    print(json.dumps({"ticks": max(digests, default=0), "sealed": sealed, "seals": len(seals), "lost": lost,
                      "players": signed, "handover": taken, "problems": problems}))
    return 1 if problems else 0


sys.exit(main(sys.argv[1], bytes.fromhex(sys.argv[2]) if len(sys.argv) > 2 else None))
