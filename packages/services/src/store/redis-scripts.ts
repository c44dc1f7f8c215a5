/**
 * Scripts of Redis, each of which runs alone and whole: the check of the owner and the write cannot be separated.
 *
 * Time is the clock of Redis, so the clocks of the services do not matter. `deadline` is a time of that clock: a script
 * that runs later changes nothing, because its caller has given up (a frozen Redis runs all waiting scripts when it
 * continues). 0: none. Every answer begins with the time, from which the next deadline is computed.
 */

import { createHash } from 'node:crypto'

/** A script, and the name that Redis knows it by after its first run. */
export interface RedisScript {
  readonly text: string
  readonly sha1: string
}

/** Defines `now`, refuses late calls, and forgets up to 200 expired ids. KEYS[2] and KEYS[3]: ids and expiries. */
const BEGIN = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local deadline = tonumber(ARGV[1])
if deadline > 0 and now > deadline then return {now, 'late'} end
local old = redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now, 'LIMIT', 0, 200)
if #old > 0 then
  redis.call('ZREM', KEYS[2], unpack(old))
  redis.call('ZREM', KEYS[3], unpack(old))
end
`

/** The lease lives until `now + ttl`, and the lists at least as long. */
const RENEW = `
local function renew(id, ttl)
  redis.call('PEXPIREAT', KEYS[1], now + ttl)
  redis.call('ZADD', KEYS[2], 0, id)
  redis.call('ZADD', KEYS[3], now + ttl, id)
  for key = 2, 3 do
    if redis.call('PTTL', KEYS[key]) < ttl then redis.call('PEXPIRE', KEYS[key], ttl) end
  end
end
`

/** KEYS: lease, ids, expiries, number. ARGV: deadline, id, owner, value, ttl, most leases. */
export const PUT: RedisScript = script(`${BEGIN}${RENEW}
local found = redis.call('HMGET', KEYS[1], 'owner', 'number')
if found[1] and found[1] ~= ARGV[3] then return {now, 'taken'} end
local number = tonumber(found[2] or 0)
if not found[1] then
  if redis.call('ZCOUNT', KEYS[3], '(' .. string.format('%.0f', now), '+inf') >= tonumber(ARGV[6]) then
    return {now, 'full'}
  end
  number = math.max(clock[1] * 1000000 + clock[2], tonumber(redis.call('GET', KEYS[4]) or 0) + 1)
  redis.call('SET', KEYS[4], string.format('%.0f', number), 'PX', 86400000)
end
redis.call('HSET', KEYS[1], 'owner', ARGV[3], 'value', ARGV[4], 'number', string.format('%.0f', number))
renew(ARGV[2], tonumber(ARGV[5]))
return {now, 'ok', string.format('%.0f', number)}
`)

/** KEYS: lease, ids, expiries. ARGV: deadline, id, owner, ttl. */
export const TOUCH: RedisScript = script(`${BEGIN}${RENEW}
if redis.call('HGET', KEYS[1], 'owner') ~= ARGV[3] then return {now, 'gone'} end
renew(ARGV[2], tonumber(ARGV[4]))
return {now, 'ok'}
`)

/** KEYS: lease, ids, expiries. ARGV: deadline, id, owner; no owner: any. Answers owner, value, number. */
export const TAKE: RedisScript = script(`${BEGIN}
local found = redis.call('HMGET', KEYS[1], 'owner', 'value', 'number')
if not found[1] or (ARGV[3] ~= '' and found[1] ~= ARGV[3]) then return {now, 'gone'} end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[2])
redis.call('ZREM', KEYS[3], ARGV[2])
return {now, 'ok', found[1], found[2], found[3]}
`)

/**
 * KEYS: prefix of leases, ids, expiries. ARGV: deadline, after, limit. Answers the last id that was looked at (empty:
 * there are no more), and id, owner, value, number of each.
 */
export const PAGE: RedisScript = script(`${BEGIN}
local from = '-'
if ARGV[2] ~= '' then from = '(' .. ARGV[2] end
local limit = tonumber(ARGV[3])
local ids = redis.call('ZRANGEBYLEX', KEYS[2], from, '+', 'LIMIT', 0, limit + 1)
local last = ''
if #ids > limit then last = ids[limit] end
local answer = {now, 'ok', last}
for at = 1, math.min(limit, #ids) do
  local found = redis.call('HMGET', KEYS[1] .. ids[at], 'owner', 'value', 'number')
  if found[1] then
    local size = #answer
    answer[size + 1] = ids[at]
    answer[size + 2] = found[1]
    answer[size + 3] = found[2]
    answer[size + 4] = found[3]
  end
end
return answer
`)

/** KEYS: counter. ARGV: window in ms. */
export const COUNT: RedisScript = script(`
local count = redis.call('INCR', KEYS[1])
if count == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return count
`)

function script(text: string): RedisScript {
  return { text, sha1: createHash('sha1').update(text).digest('hex') }
}
