"""The Lua scripts that run in Redis. Each script is one change of state that no worker's death can halve.

Keys, all with the prefix that `DUST_REDIS_KEY` gives:

    meta        hash    ``rules``: the version of the rules that all workers go by; ``secret``: canaries are drawn with it
    seen        set     own names of requests that were let through
    classes     hash    class → its state and more, as JSON
    with_heirs  set     classes for which requests wait
    heirs:<class>  list  requests that wait for the URL that stands for the class
    landings    hash    where redirects led → which class they came from first
    suspended   hash    id of a rule that was found to be false → its site
    versions    set     versions of the rules without the suspended ones
    workers     zset    worker → when it was last heard of, by Redis' clock, in milliseconds
    held:<worker>  hash  id → a request that the worker has, and nobody else
    done:<worker>  hash  id → 1, for calls that Redis has carried out and the worker may not have heard of
"""

from __future__ import annotations

#: Before every script: the time of now in milliseconds, and a way back into scrapy-redis' queue.
PRELUDE = """
local function now()
    local t = redis.call('TIME')
    return t[1] * 1000 + math.floor(t[2] / 1000)
end
local function back(queue, kind, payload)
    local at = string.find(payload, '\\n', 1, true)
    local score, raw = string.sub(payload, 2, at - 1), string.sub(payload, at + 1)
    if kind == 'priority' then redis.call('ZADD', queue, score, raw)
    elseif kind == 'fifo' then redis.call('RPUSH', queue, raw)
    else redis.call('LPUSH', queue, raw) end
end
"""

#: What is there of a crawl that has ended is dropped: where nobody is alive, nothing is held and nothing is queued.
#: KEYS workers queue; ARGV worker prefix lease-in-ms force-or-'' names… → 1: dropped
DROP = """
local prefix, workers = ARGV[2], redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
if ARGV[4] == '' then
    if redis.call('EXISTS', KEYS[2]) == 1 then return 0 end
    for i = 1, #workers, 2 do
        if workers[i] ~= ARGV[1] and workers[i + 1] + ARGV[3] >= now() then return 0 end
        if redis.call('EXISTS', prefix .. 'held:' .. workers[i]) == 1 then return 0 end
    end
end
for i = 1, #workers, 2 do redis.call('DEL', prefix .. 'held:' .. workers[i], prefix .. 'done:' .. workers[i]) end
for _, key in ipairs(redis.call('SMEMBERS', prefix .. 'with_heirs')) do redis.call('DEL', prefix .. 'heirs:' .. key) end
for i = 5, #ARGV do redis.call('DEL', prefix .. ARGV[i]) end
return 1
"""

#: KEYS meta workers; ARGV version worker → the version that all workers go by; from now on it is one of them
BEGIN = """
redis.call('HSETNX', KEYS[1], 'rules', ARGV[1])
local version = redis.call('HGET', KEYS[1], 'rules')
if version == ARGV[1] then redis.call('ZADD', KEYS[2], now(), ARGV[2]) end
return version
"""

#: KEYS seen done held; ARGV own-name id held-id-or-'' payload acknowledged ids…
#: → 1: it is the first of its name (told again to one who did not hear it)
ENTER = """
for i = 5, #ARGV do redis.call('HDEL', KEYS[2], ARGV[i]) end
if redis.call('SADD', KEYS[1], ARGV[1]) == 0 and redis.call('HEXISTS', KEYS[2], ARGV[2]) == 0 then return 0 end
redis.call('HSET', KEYS[2], ARGV[2], 1)
if ARGV[3] ~= '' then redis.call('HSET', KEYS[3], ARGV[3], ARGV[4]) end
return 1
"""

#: KEYS classes with_heirs heirs; ARGV class old-or-'' new settled-or-'' row-or-''
#: → 1: it was as the worker thought, and is now as it wants it
SWAP = """
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
if ARGV[4] == '1' then
    redis.call('DEL', KEYS[3])
    redis.call('SREM', KEYS[2], ARGV[1])
elseif ARGV[5] ~= '' then
    redis.call('RPUSH', KEYS[3], ARGV[5])
    redis.call('SADD', KEYS[2], ARGV[1])
end
return 1
"""

#: KEYS with_heirs heirs held; ARGV class id → the row that has waited longest; its request is now the worker's
TAKE = """
local row = redis.call('LPOP', KEYS[2])
if redis.call('LLEN', KEYS[2]) == 0 then redis.call('SREM', KEYS[1], ARGV[1]) end
if row then
    local at = string.find(row, '\\n', 1, true)
    redis.call('HSET', KEYS[3], ARGV[2], 'j' .. string.sub(row, at + 1))
end
return row
"""

#: KEYS landings; ARGV key origin → the first origin; '' once there were several
LANDED = """
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[1], ARGV[1])
"""

#: KEYS workers held queue; ARGV worker kind id finished ids… → the next of scrapy-redis' queue, held by the worker
POP = """
redis.call('ZADD', KEYS[1], now(), ARGV[1])
for i = 4, #ARGV do redis.call('HDEL', KEYS[2], ARGV[i]) end
local raw, score = false, ''
if ARGV[2] == 'priority' then
    local found = redis.call('ZRANGE', KEYS[3], 0, 0, 'WITHSCORES')
    if found[1] then
        raw, score = found[1], found[2]
        redis.call('ZREM', KEYS[3], raw)
    end
else
    raw = redis.call(ARGV[2] == 'fifo' and 'RPOP' or 'LPOP', KEYS[3])
end
if raw then redis.call('HSET', KEYS[2], ARGV[3], 'q' .. score .. '\\n' .. raw) end
return raw
"""

#: KEYS workers queue; ARGV worker kind-or-'' lease in ms, prefix, most → what is now the worker's: id, payload, …
#: Of workers not heard of for as long: what came out of the queue goes back into it.
RESCUE = """
local adopted = {}
redis.call('ZADD', KEYS[1], now(), ARGV[1])
for _, worker in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now() - ARGV[3])) do
    local held, left = ARGV[4] .. 'held:' .. worker, false
    local found = redis.call('HRANDFIELD', held, ARGV[5], 'WITHVALUES')
    for i = 1, #found, 2 do
        local id, payload = found[i], found[i + 1]
        local is_queued = string.sub(payload, 1, 1) == 'q'
        if is_queued and ARGV[2] == '' then left = true
        else
            if is_queued then back(KEYS[2], ARGV[2], payload)
            else
                redis.call('HSET', ARGV[4] .. 'held:' .. ARGV[1], id, payload)
                adopted[#adopted + 1] = id
                adopted[#adopted + 1] = payload
            end
            redis.call('HDEL', held, id)
        end
    end
    if not left and redis.call('HLEN', held) == 0 then
        redis.call('ZREM', KEYS[1], worker)
        redis.call('DEL', ARGV[4] .. 'done:' .. worker)
    end
end
return adopted
"""

#: KEYS held queue; ARGV kind-or-'' known ids… → what else the worker has, and does not know of: id, payload, …
RECONCILE = """
local known, unknown = {}, {}
for i = 2, #ARGV do known[ARGV[i]] = true end
for _, id in ipairs(redis.call('HKEYS', KEYS[1])) do
    if not known[id] then
        local payload = redis.call('HGET', KEYS[1], id)
        if string.sub(payload, 1, 1) == 'q' and ARGV[1] ~= '' then
            back(KEYS[2], ARGV[1], payload)
            redis.call('HDEL', KEYS[1], id)
        else
            unknown[#unknown + 1] = id
            unknown[#unknown + 1] = payload
        end
    end
end
return unknown
"""

#: KEYS workers; ARGV worker prefix → how many requests others have, dead or alive
OTHERS = """
local held = 0
for _, worker in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
    if worker ~= ARGV[1] then held = held + redis.call('HLEN', ARGV[2] .. 'held:' .. worker) end
end
return held
"""

#: KEYS workers held done; ARGV worker → nobody waits for it; what it still has is free at once
LEAVE = """
if redis.call('HLEN', KEYS[2]) > 0 then redis.call('ZADD', KEYS[1], 0, ARGV[1])
else redis.call('ZREM', KEYS[1], ARGV[1]) end
redis.call('DEL', KEYS[3])
"""
