import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { McpProgram } from '../../src/core/mcp.ts'
import { checkServer } from '../../src/mcp/check-server.ts'
import { startWords } from '../../src/mcp/start-words.ts'

const fetchOf = () => () => Promise.reject(new Error('nothing is asked by HTTP'))

/** Returns what `mcp test` says of a program that cannot be started or asked. */
async function said(at: Partial<McpProgram>, startMs = 20_000): Promise<string> {
  const program = { kind: 'program', command: process.execPath, args: [], env: {}, ...at } as const
  const server = { name: 'one', at: program, inside: [], timeoutMs: 1_000 }
  const deps = { clock: systemClock, logger: silentLogger, fetchOf, version: '1', startMs }
  const error: unknown = await checkServer(server, deps).catch((thrown: unknown) => thrown)
  return error instanceof Error ? error.message : 'it answered'
}

const script = (code: string): Partial<McpProgram> => ({ args: ['-e', code] })
const hang = 'process.stdin.resume()'

describe('the words for a program', () => {
  it.each([
    ['process.exit(3)', /^one cannot be reached: node ended with code 3 before it answered$/],
    ['process.kill(process.pid, "SIGKILL")', /ended by SIGKILL .*: it was killed from outside/],
    ['process.kill(process.pid, "SIGSEGV")', /ended by SIGSEGV before it answered/],
    ['process.exit(127)', /with code 127 .*: a program that it starts itself is not in PATH/],
    ['require("/no/such/module")', /with code 1 .*: Error: Cannot find module '\/no\/such\/module'\. It wrote:\n/],
    ['process.stdout.write("usage: one --stdio"); process.exit(2)', /with code 2 .*: usage: one --stdio\. It wrote/],
    ['process.stderr.write("\\x1b[31mAPI_KEY is required\\x1b[0m\\n"); process.exit(1)', /: API_KEY is required\./],
    ['process.stdout.write("10 %\\r90 %\\r\\n"); process.exit(1)', /: 90 %\. It wrote:\n {2}90 %$/],
  ])('that ends with %s', async (code, words) => {
    expect(await said(script(code))).toMatch(words)
  })

  it.each([
    [
      'console.log("Listening on http://localhost:3001/mcp")',
      /name its address as url \(it printed http:\/\/localhost:3001\/mcp\)/,
    ],
    ['process.stdout.write("Content-Length: 5\\r\\n\\r\\n")', /headers before its messages/],
    ['console.log("Really? (y/n)")', /a question that nobody answers.*Really\? \(y\/n\)/],
    ['console.log("Welcome!")', /within 1\.5 s; .*it printed last: Welcome!/],
  ])('that does not answer after %s', async (code, words) => {
    expect(await said(script(`${code}; ${hang}`), 1_500)).toMatch(words)
  })

  it('whose last words have a secret in them, cut by the longest line, show no half of it', async () => {
    const key = 'k'.repeat(60)
    const code = 'process.stderr.write("x".repeat(480) + process.env.KEY + "y".repeat(9_000)); process.exit(1)'
    const words = await said({ ...script(code), env: { KEY: key } })
    expect(words).toContain(`${'x'.repeat(480)}[secret]`)
    expect(words).not.toContain('kkk')
    expect(Math.max(...words.split('\n').map((line) => line.length))).toBeLessThan(700)
  })

  it('that is a script without its interpreter, or may not be run', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-words-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const command = join(folder, 'server')
    writeFileSync(command, '#!/no/such/interpreter\n')
    expect(await said({ command })).toContain('this user may not run')
    chmodSync(command, 0o755)
    expect(await said({ command })).toContain(`the program that the first line of ${command} names is not there`)
  })
})

test('npx is found beside the Node that runs this, and says itself why it has no package', async () => {
  const env = {
    npm_config_registry: 'http://127.0.0.1:1',
    npm_config_cache: mkdtempSync(join(tmpdir(), 'parley-npm-')),
  }
  onTestFinished(() => rmSync(env.npm_config_cache, { recursive: true, force: true }))
  const given = process.env.PATH
  process.env.PATH = '/no/such/folder'
  onTestFinished(() => {
    process.env.PATH = given
  })
  const words = await said({ command: 'npx', args: ['-y', 'parley-has-no-such-package'], env }, 50_000)
  // A Node that was installed by a package has no npx beside it.
  const isBeside = existsSync(join(dirname(process.execPath), 'npx'))
  const own =
    /npx ended with code 1 before it answered: its registry cannot be reached; behind a proxy.*without a network/
  expect(words).toMatch(isBeside ? own : /there is no program npx in PATH/)
})

/** Lines as npm, uv and docker print them. */
test.each([
  [
    "npm error code E404|npm error 404  The requested resource '@x/y@*' could not be found",
    'npm knows no such package',
  ],
  ['npm ERR! code ETARGET|npm ERR! notarget No matching version found for pkg@9.', 'npm knows no such version'],
  ["npm error   code: 'ECONNREFUSED',|npm error   errno: 'ECONNREFUSED',", 'its registry cannot be reached'],
  ['npm error code EAI_AGAIN', 'its registry cannot be reached'],
  ['npm error code EACCES|npm error syscall mkdir', 'npm may not write into its cache'],
  ['npm error could not determine executable to run', 'the package has several programs or none'],
  ['  × No solution found when resolving tool dependencies:', 'uv knows no such package'],
  ['error: Failed to fetch: `https://pypi.org/simple/x/`', 'its registry cannot be reached'],
  ['docker: Cannot connect to the Docker daemon at unix:///var/run/docker.sock.', 'docker cannot be used'],
  ['the input device is not a TTY', 'docker has no terminal here; write -i in place of -it'],
  ['TypeError: x is not a function|    at foo|Node.js v20', 'TypeError: x is not a function'],
])('%s is told as: %s', (printed, words) => {
  const at = { kind: 'program', command: '/usr/bin/npx', args: [], env: {} } as const
  const error = Object.assign(new Error('Connection closed'), { code: -32_000 })
  const ended = { code: 1, signal: null }
  const told = startWords({ error, at, waitedMs: 1, printed: printed.split('|'), ended })
  expect(told).toContain(`npx ended with code 1 before it answered: ${words}`)
})
