import stringWidth from 'string-width'
import { describe, expect, test } from 'vitest'
import { clip, columns } from '../../src/cli/print/columns.ts'
import { oneLine, plain, toJson } from '../../src/cli/print/plain.ts'
import { printSession, printSessions } from '../../src/cli/print/sessions.ts'
import { printStarted } from '../../src/cli/print/started.ts'
import { printStatus } from '../../src/cli/print/status.ts'
import { styleFor } from '../../src/cli/print/style.ts'
import { formatAge, formatTime } from '../../src/cli/print/time.ts'
import { printTrace, printWhy } from '../../src/cli/print/why.ts'
import { fitted } from '../../src/cli/show.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { fakeOperator, sampleSession, sampleStatus, sampleWhy } from '../fakes/operator.ts'
import { policy } from '../fakes/routing-policy.ts'

const bare = styleFor({ isTTY: false, env: {} })

test.each([
  ['owner     nobody yet; send', ['owner     nobody yet;', '          send']],
  ['ada  owner  telegram:111', ['ada  owner', '     telegram:111']],
])('at a terminal of 22 columns, "%s" is broken between words and keeps its column', (line, broken) => {
  const stdout = { write: () => true, columns: 22 }
  expect(fitted({ ...stdout, isTTY: true }, [line])).toEqual(broken)
  expect(fitted({ ...stdout, isTTY: false }, [line])).toEqual([line])
})

describe('styleFor', () => {
  test.each([
    [true, {}, true],
    [true, { NO_COLOR: '' }, true],
    [true, { NO_COLOR: '1' }, false],
    [true, { TERM: 'dumb' }, false],
    [false, {}, false],
  ])('terminal %s under %j colours: %s', (isTTY, env, colours) => {
    expect(styleFor({ isTTY, env }).good('x')).toBe(colours ? '\u001b[32mx\u001b[0m' : 'x')
  })
})

describe('plain', () => {
  test('keeps text of every language and line breaks', () => {
    expect(plain('é 日本 👍🏽 עברית\r\nb\rc\td')).toBe('é 日本 👍🏽 עברית\nb\nc d')
  })

  test('shows what a terminal would obey', () => {
    expect(plain('\u001b[2J\u0007\u0000\u007f\u009b\u202e\u2066')).toBe('\ufffd[2J'.padEnd(10, '\ufffd'))
  })

  test('oneLine joins the lines', () => {
    expect(oneLine(' a\n\n b\u2028c ')).toBe('a b\ufffdc')
  })

  test('toJson escapes them and stays the same value', () => {
    const value = { text: '\u001b\u009b\u202e\n日本' }
    expect(JSON.parse(toJson(value))).toEqual(value)
    expect(toJson(value)).toContain('\\u009b\\u202e\\n日本')
  })
})

describe('columns', () => {
  test('aligns by display width and leaves nothing at the end of a line', () => {
    expect(columns([['a', 'b', ''], ['日本', 'ccc', 'd'], ['e\u0301']])).toEqual(['a     b', '日本  ccc  d', 'e\u0301'])
  })

  test('cuts a line at the width with a sign', () => {
    expect(columns([['abc', 'defghij']], 8)).toEqual(['abc  de…'])
    expect(clip('日本語', 4)).toBe('日…')
    expect([clip('abcd', 4), clip('abcd')]).toEqual(['abcd', 'abcd'])
    expect([clip('👍🏽a', 3), clip('👨‍👩‍👧ab', 3)]).toEqual(['👍🏽a', '👨‍👩‍👧…'])
  })
})

describe('formatAge', () => {
  test.each([
    [0, '0 s'],
    [-5000, '0 s'],
    [59_999, '59 s'],
    [60_000, '1 min'],
    [3_599_999, '59 min'],
    [3_600_000, '1 h'],
    [86_399_999, '23 h'],
    [172_800_000, '2 d'],
    [Number.NaN, 'unknown'],
  ])('of %i ms is %s', (age, text) => {
    expect(formatAge(1e12 - age, 1e12)).toBe(text)
  })
})

describe('formatTime', () => {
  test('is the time on the clock of the reader, with its zone', () => {
    const at = Date.UTC(2026, 6, 2, 23, 4, 5, 678)
    expect([formatTime(at, 'UTC'), formatTime(at, 'Europe/Berlin'), formatTime(Number.NaN)]).toEqual([
      '2026-07-02 23:04:05 UTC',
      '2026-07-03 01:04:05 CEST',
      'unknown',
    ])
  })
})

const NOW = Date.UTC(2026, 10, 21, 19, 30)

describe('printStatus', () => {
  test('of a running daemon', () => {
    expect(printStatus(sampleStatus, bare, { now: NOW })).toEqual([
      'Parley 0.1.0, up since 2026-11-21 14:03:22 UTC',
      '',
      'Channels',
      '  ✓ telegram         up    @parley_bot  by polling  last heard 2026-11-21 14:03:27 UTC',
      '      hint: privacy mode hides group messages that do not address the bot',
      '      nothing for the agent: 2 poll, 1 forum topic created',
      '  ✗ telegram/second  down',
      '      the token is refused',
      '',
      'owner     nobody yet',
      '          become the owner with https://t.me/parley_bot?start=abc',
      'models    scripted/echo',
      'sessions  2',
      'turns     1 running, 3 messages waiting',
      'today     4 turns, 750 tokens in (700 from the cache), 60 out',
      'backup    none yet; parley backup makes one',
      'outbox    12 sent, 1 unknown',
      '',
      'Sends nobody can be sure of: parley outbox retry|drop <id>',
      '  out_1  unknown  telegram:group:-1001  tr_1  timed out',
      '',
      'Messages that were not delivered: parley outbox retry <id>, or drop',
      '  out_02  rejected  telegram:direct:555  tr_02  403: blocked',
    ])
  })

  test('names the last messages in and out and the next job, on lines of 80 columns, in the zone of the reader', () => {
    const at = sampleStatus.startedAt ?? 0
    const title = 'The friends of the garden and the lake › Engines'
    const report = {
      ...sampleStatus,
      lastIn: { at, address: 'telegram:group:-1001/7', title },
      lastOut: { at: at + 2000, address: 'telegram:direct:111' },
    }
    const job = {
      ...{
        id: 'r1',
        source: 'command' as const,
        cron: '',
        timezone: 'UTC',
        prompt: 'water all of the flowers',
        paused: false,
      },
      ...{ deliverTo: 'telegram:direct:111', deliverTitle: 'Ada', missed: 'run', overlap: 'skip', nextAt: at },
    }
    const lines = printStatus(report, bare, { next: job, now: NOW }).filter((line) => /^(last|next)/.test(line))
    expect(lines).toEqual([
      'last in   2026-11-21 14:03:22 UTC, The friends o… › Engines (telegram group)',
      'last out  2026-11-21 14:03:24 UTC, telegram:direct:111',
      'next      2026-11-21 14:03:22 UTC, "water all of th…", to Ada (telegram direct)',
    ])
    expect(lines.filter((line) => stringWidth(line) > 80)).toEqual([])
    const written = printStatus(sampleStatus, bare, { next: { ...job, source: 'config', id: 'morning' }, now: NOW })
    expect(written).toContain('next      2026-11-21 14:03:22 UTC, morning, to Ada (telegram direct)')
  })

  test('has a line for each tool server, below one that is down the last words of its program', () => {
    const at = sampleStatus.startedAt ?? 0
    const lastTrouble = {
      detail: 'npx ended with code 1',
      at,
      printed: ['npm error code E404', 'npm error \u001b[2J404'],
    }
    const report = {
      ...sampleStatus,
      toolServers: [
        { server: 'notes', status: 'up' as const, tools: 5, agents: ['main'], lastTrouble },
        { server: 'shop', status: 'down' as const, agents: ['main'], lastTrouble },
        { server: 'home', status: 'up' as const, tools: 1, agents: ['main'], wantsLogin: true as const },
      ],
    }
    const lines = printStatus(report, bare, { now: NOW })
    const from = lines.findIndex((line) => line.startsWith('tools'))
    expect(lines.slice(from, from + 5)).toEqual([
      'tools     notes: up, 5 tools',
      '          shop: down, npx ended with code 1',
      '            npm error code E404',
      '            npm error \ufffd[2J404',
      '          home: up, 1 tool, asks for a login: parley mcp login home',
    ])
  })

  test('has a line for each server of models, below it what was learnt, and failures with cause and remedy', () => {
    const failed = { at: sampleStatus.startedAt ?? 0, cause: 'Anthropic answered 401.', remedy: 'Set a valid key.' }
    const absent = { ...failed, code: 'model_unconfigured', cause: 'models has no server olama.', remedy: 'Mend it.' }
    const report = {
      ...sampleStatus,
      models: ['anthropic/a', 'ollama/llama3', 'anthropic/a'],
      modelServers: [
        {
          ...{ name: 'anthropic', kind: 'anthropic', host: 'api.anthropic.com', agents: ['main', 'coder'], learnt: [] },
          troubles: [{ ...failed, code: 'model_auth', models: ['a', 'b'] }],
        },
        {
          ...{ name: 'ollama', kind: 'openai', host: '127.0.0.1:11434', agents: [], troubles: [] },
          learnt: [{ model: 'llama3', traits: ['takes no temperature', 'reads 4096 tokens at once'] }],
        },
        { name: 'olama', agents: ['main'], learnt: [], troubles: [{ ...absent, models: ['llama3'] }] },
      ],
    }
    expect(printStatus(report, bare, { now: NOW }).slice(11, 21)).toEqual([
      'models    anthropic/a, ollama/llama3',
      'servers   anthropic (anthropic at api.anthropic.com), used by main, coder',
      '            a, b failed at 2026-11-21 14:03:22 UTC',
      '              Anthropic answered 401.',
      '              Set a valid key.',
      '          ollama (openai at 127.0.0.1:11434), used by no agent',
      '            llama3 takes no temperature; reads 4096 tokens at once',
      '          olama (not under models), used by main',
      '            llama3 cannot be called',
      '              models has no server olama.',
    ])
  })

  test('S41: says the age limits and when each begins', () => {
    const days = { rule: 'retention.days', days: 365, startsAt: sampleStatus.startedAt ?? 0 }
    const report = { ...sampleStatus, retention: [days, { rule: 'retention.rules[0]', days: 1 }] }
    const shown = printStatus(report, bare, { now: NOW }).filter((line) => line.includes('older than'))
    expect(shown).toEqual([
      'retention  retention.days: what is older than 365 days is forgotten, from 2026-11-21 14:03:22 UTC on',
      '           retention.rules[0]: what is older than 1 day is forgotten, once owners had a report of it for a day',
    ])
  })

  test('says when the last whole backup was made, that it is gone, and what failed since', () => {
    const backup = {
      at: NOW - 5 * 3_600_000,
      path: '/srv/parley-2026',
      there: false,
      failedAt: NOW - 60_000,
      reason: 'full',
    }
    const shown = printStatus({ ...sampleStatus, backup }, bare, { now: NOW })
    expect(shown.slice(shown.findIndex((line) => line.startsWith('backup'))).slice(0, 2)).toEqual([
      'backup    5 h ago, whole, /srv/parley-2026, which is not there now',
      '          failed 1 min ago: full',
    ])
  })

  test('of a store without a daemon', () => {
    const { startedAt, spentToday, ...stored } = sampleStatus
    const empty = {
      ...stored,
      channels: [],
      ownerKnown: true,
      claims: [],
      models: [],
      outbox: {},
      uncertain: [],
      undelivered: [],
    }
    expect(printStatus({ ...empty, runningTurns: 0, waiting: 1 }, bare, { now: NOW })).toEqual([
      'Parley 0.1.0, not running',
      '',
      'Channels',
      '  none up while no daemon runs',
      '',
      'owner     known',
      'models    none',
      'sessions  2',
      'turns     0 running, 1 message waiting',
      'backup    none yet; parley backup makes one',
      'outbox    empty',
    ])
  })
})

describe('printWhy', () => {
  const line = '  message 42 in telegram:group:-1001/7, from Ada (111), 2026-11-21 14:03:22 UTC'

  test('begins with the sentence, names the message, and says where the steps are', () => {
    expect(printWhy([sampleWhy], bare)).toEqual([sampleWhy.summary, line, '  Add --trace to see each step.'])
  })

  test('shows the decision where an older daemon gives no sentence', () => {
    const { summary: _, ...older } = sampleWhy
    expect(printWhy([older], bare)[0]).toBe(`${sampleWhy.decision}: ${sampleWhy.reason}`)
  })

  test('shows the tool calls that were refused, and parts several messages by an empty line', () => {
    const denied = { ...sampleWhy, denied: [{ tool: 'web', reason: 'not for guests' }] }
    expect(printWhy([denied, sampleWhy], bare)).toEqual([
      ...[sampleWhy.summary, line, '  ✗ web  not for guests', ''],
      ...[sampleWhy.summary, line, '  Add --trace to see each step.'],
    ])
  })
})

describe('printTrace', () => {
  test('shows each step, the setting that would flip it, and that nothing was sent', () => {
    expect(printTrace([sampleWhy], bare)).toEqual([
      'Remembered and not answered: nobody addressed the agent.',
      '',
      'message 42 in telegram:group:-1001/7',
      '  from      Ada (111)',
      '  received  2026-11-21 14:03:22 UTC',
      '  inbox     in_1',
      '  trace     tr_1',
      '',
      '  ✓ access   the group is open to everyone',
      '      setting: routing.access.groups[0].who',
      '  ✗ trigger  nobody addressed the agent',
      '',
      '  decision  store: not_addressed',
      '  session   telegram:2026-11-21-9f3a61c0',
      '  outcome   stored',
      '  nothing was sent',
    ])
  })

  test('shows the turn and what became of each part', () => {
    const deliveries = [
      { state: 'sent', messageId: '43' },
      { state: 'unknown', reason: 'timed out' },
    ]
    const { messageId, ...report } = { ...sampleWhy, turn: 'turn_1', sender: { id: '111' }, deliveries }
    const lines = printTrace([report], bare)
    expect(lines.slice(2, 4)).toEqual(['message in telegram:group:-1001/7', '  from      111'])
    expect(lines.slice(-4)).toEqual([
      '  turn      turn_1',
      '  outcome   stored',
      '  ✓ part 1  sent     as 43',
      '  · part 2  unknown         timed out',
    ])
  })

  test('parts several messages of one name by an empty line', () => {
    const one = printTrace([sampleWhy], bare)
    expect(printTrace([sampleWhy, sampleWhy], bare)).toEqual([...one, '', ...one])
  })
})

describe('printSessions', () => {
  const first = { limit: 1, offset: 0, inactive: false }
  const now = sampleSession.updatedAt + 3 * 60_000

  test('is a table that ends with where the rest is', async () => {
    const list = await fakeOperator().sessions.list(first)
    const [header = '', row = '', ...rest] = printSessions(list, { query: first, now, width: 80 }, bare)
    expect(header.split(/ {2,}/)).toEqual(['PLACE', 'WHERE', 'ACTIVE', 'STATUS', 'ABOUT'])
    expect(row.split(/ {2,}/)).toEqual(['chat', 'Workshop › Engines', '3 min', 'idle', 'lunch plans'])
    expect(header.indexOf('ABOUT')).toBe(row.indexOf('lunch'))
    expect(rest).toEqual(['1 to 1 of 2; the next with --offset 1'])
  })

  test('R33: shows tasks below the conversation that began them', () => {
    const { title: _, ...task } = { ...sampleSession, key: 'task:abc', description: 'count the stars' }
    const [, ...rows] = printSessions(
      { sessions: [{ ...sampleSession, children: [task] }, sampleSession], total: 2 },
      { query: first, now, width: 80 },
      bare,
    )
    expect(rows.map((row) => row.split(/ {2,}/).slice(0, 3))).toEqual([
      ['chat', 'Workshop › Engines', '3 min'],
      ['', '└ chat', 'task:abc'],
      ['chat', 'Workshop › Engines', '3 min'],
    ])
  })

  test('names the platform and the kind of each place, and tells those of one title apart by their ids', () => {
    const titled = (key: string, title: string) => ({ ...sampleSession, key, title, description: 'x'.repeat(80) })
    const sessions = [
      titled('telegram:direct:111', 'Ada'),
      titled('telegram:direct:113', 'Ada'),
      titled('discord@second:channel:9/7', 'The friends of the garden and the lake › Engines'),
      titled('slack:direct:T1/U1', 'slack:direct:T1/U1'),
    ]
    const [, ...rows] = printSessions({ sessions, total: 4 }, { query: first, now, width: 80 }, bare)
    expect(rows.slice(0, 4).map((row) => row.split(/ {2,}/).slice(0, 2))).toEqual([
      ['telegram direct', 'Ada (111)'],
      ['telegram direct', 'Ada (113)'],
      ['discord@second channel', 'The friends of th… › Engines'],
      ['slack direct', 'T1/U1'],
    ])
    for (const row of rows) expect(stringWidth(row)).toBeLessThan(81)
  })

  test('falls back to the preview and fits the terminal', async () => {
    const list = { sessions: [{ ...sampleSession, description: '', preview: 'shall\nwe?' }], total: 1 }
    expect(printSessions(list, { query: first, now, width: 80 }, bare)[1]).toMatch(/ {2}shall we\?$/)
    for (const line of printSessions(list, { query: first, now, width: 60 }, bare))
      expect(stringWidth(line)).toBeLessThan(61)
  })

  test('fits 80 columns whatever a place is called, and shows the key of one without a title', () => {
    const { title: _, ...untitled } = sampleSession
    const long = { ...sampleSession, title: `${'名'.repeat(60)}\u001b[2J`, description: 'x'.repeat(80) }
    const [, ...rows] = printSessions({ sessions: [untitled, long], total: 2 }, { query: first, now, width: 80 }, bare)
    expect(rows[0]).toContain(sampleSession.key.slice(0, 27))
    for (const row of rows) expect(stringWidth(row)).toBeLessThan(81)
    expect(rows.join()).not.toContain('\u001b')
  })

  test.each([
    [0, first, 'No active session. Add --all to see the inactive ones.'],
    [0, { ...first, inactive: true }, 'No session yet.'],
    [3, { ...first, offset: 9 }, 'No session at offset 9; there are 3.'],
  ])('of nothing among %i says so', (total, query, line) => {
    expect(printSessions({ sessions: [], total }, { query, now, width: 80 }, bare)).toEqual([line])
  })

  test('says on the last page where it is', async () => {
    const query = { ...first, offset: 1 }
    expect(printSessions(await fakeOperator().sessions.list(query), { query, now, width: 80 }, bare).at(-1)).toBe(
      '2 to 2 of 2',
    )
  })
})

describe('printSession', () => {
  test('shows what it is and its events, long ones indented', () => {
    const lines = printSession(sampleSession, bare, 'Europe/Berlin')
    expect(lines.slice(0, 3)).toEqual([
      'Workshop › Engines',
      `  id           ${sampleSession.id}`,
      `  key          ${sampleSession.key}`,
    ])
    expect(lines).toContain('  holds        3 messages, 1 turn')
    expect(lines).toContain('  title        Lunch')
    expect(lines.slice(-3)).toEqual([
      '  1  2026-11-21 15:03:22 CET  user       shall we?',
      `${' '.repeat(39)}  at noon`,
      '  2  2026-11-21 15:03:23 CET  assistant  yes',
    ])
  })

  test('without an event says so', () => {
    expect(printSession({ ...sampleSession, description: '', events: [] }, bare).at(-1)).toBe('  no event yet')
  })
})

describe('printStarted', () => {
  const config = { dataDir: '/data', warnings: ['models: no key set'], routing: policy() }

  test('with an owner prints no claim line; warnings stand before the last line', () => {
    const lines = printStarted({ ...sampleStatus, ownerKnown: true, models: [] }, config)
    expect(lines.join('\n')).not.toContain('owner')
    expect(lines.slice(-5)).toEqual([
      'model: none, so nobody is answered yet',
      'configuration: the environment (no file)',
      'data: /data',
      'warning: models: no key set',
      'Stop with Ctrl-C.',
    ])
  })

  test('with an owner and a group that is allowed says that their words there cost, and what ends that', () => {
    const groups = [{ match: { channel: 'telegram' }, who: 'allowlist', trigger: 'mention' }] as const
    const printed = (routing: RoutingPolicy, ownerKnown = true): string =>
      printStarted({ ...sampleStatus, ownerKnown }, { ...config, routing }).join('\n')
    const allowed = policy({ access: { direct: 'owner', groups } })
    expect(printed(allowed)).toContain(
      'groups: whatever an owner says there costs a call; routing.ownerAlwaysTriggers: false ends that\n',
    )
    for (const other of [policy(), policy({ ...allowed, ownerAlwaysTriggers: false })])
      expect(printed(other)).not.toContain('groups:')
    expect(printed(allowed, false)).not.toContain('groups:')
  })

  test('without an owner and without a link says when there will be one', () => {
    expect(printStarted({ ...sampleStatus, claims: [] }, config).join('\n')).toContain('once a channel is up')
    const lines = printStarted({ ...sampleStatus, channels: [], claims: [] }, config).join('\n')
    expect(lines).toContain('parley token create')
    expect(lines).not.toContain('owner')
  })

  test('a channel without a name or a reason is still named with its state', () => {
    const channel = { channel: 'telegram', account: 'default', hints: [], unknown: {} } as const
    const channels = [{ ...channel, status: 'up' } as const, { ...channel, status: 'starting' } as const]
    expect(printStarted({ ...sampleStatus, channels }, config).slice(1, 3)).toEqual([
      'telegram: up',
      'telegram: starting',
    ])
  })
})
