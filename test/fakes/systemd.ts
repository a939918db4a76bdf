import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

export interface FakeSystemd {
  /** The folder of its tools, for PATH. */
  readonly bin: string
  /** Every command line that was given to a tool. */
  calls(): readonly string[]
  /** Ends the service, should a test leave it running. */
  end(): void
}

/**
 * A stand-in for the service manager of a user, for hosts that were not booted with systemd. It answers as systemd 252
 * does and really runs the service of `<configuration folder>/systemd/user`: it starts ExecStart with the variables of
 * the unit, waits for `READY=1`, ends it with SIGTERM, and restarts nothing.
 */
export function fakeSystemd(folder: string, { lingers = false } = {}): FakeSystemd {
  const bin = join(folder, 'systemd-bin')
  mkdirSync(bin)
  const tool = (name: string, script: string): void => {
    writeFileSync(join(bin, name), script)
    chmodSync(join(bin, name), 0o755)
  }
  const log = join(folder, 'systemd-calls')
  const shell = (name: string, script: string): void =>
    tool(name, `#!/bin/sh\necho "${name} $*" >>'${log}'\n${script}\n`)
  shell(
    'loginctl',
    lingers ? 'echo Linger=yes' : 'echo "Failed to get user: User ID 1000 is not logged in or lingering" >&2; exit 1',
  )
  shell('systemd-notify', `for said in "$@"; do echo "$said" >>"$NOTIFY_SOCKET"; done`)
  const script = SYSTEMCTL.replace('"FOLDER"', JSON.stringify(folder))
  tool('systemctl', `#!${process.execPath}\n${script}`)
  return {
    bin,
    calls: () => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []),
    end() {
      const file = join(folder, 'systemd-state.json')
      const { pid } = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
      try {
        if (pid) process.kill(pid, 'SIGKILL')
      } catch {
        // It has ended.
      }
    },
  }
}

const SYSTEMCTL = String.raw`
const { spawn } = require('node:child_process')
const { appendFileSync, existsSync, openSync, readFileSync, rmSync, writeFileSync } = require('node:fs')
const { join } = require('node:path')
const folder = "FOLDER"
const args = process.argv.slice(2)
appendFileSync(join(folder, 'systemd-calls'), 'systemctl ' + args.join(' ') + '\n')
const [verb] = args.filter((arg) => !arg.startsWith('--'))
const config = process.env.XDG_CONFIG_HOME || join(process.env.HOME, '.config')
const unit = join(config, 'systemd/user/parley.service')
const file = join(folder, 'systemd-state.json')
const state = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { enabled: false }
const save = () => writeFileSync(file, JSON.stringify(state))
const alive = (pid) => { try { process.kill(pid, 0); return true } catch { return false } }
const sleep = () => new Promise((resolve) => setTimeout(resolve, 20))
const words = (text) => [...text.matchAll(/"((?:\\.|[^"\\])*)"|(\S+)/g)].map(([, q, w]) => (q === undefined ? w : q.replace(/\\(.)/g, '$1')).replaceAll('%%', '%').replaceAll('$$', '$'))
const valuesOf = (name) => readFileSync(unit, 'utf8').split('\n').filter((line) => line.startsWith(name + '=')).map((line) => line.slice(name.length + 1))
async function stop() {
  if (state.pid && alive(state.pid)) process.kill(state.pid, 'SIGTERM')
  while (state.pid && alive(state.pid)) await sleep()
  delete state.pid
  save()
}
async function start() {
  if (!existsSync(unit)) { console.error('Failed to start parley.service: Unit parley.service not found.'); process.exit(5) }
  const notify = join(folder, 'notify')
  rmSync(notify, { force: true })
  const env = { HOME: process.env.HOME, NOTIFY_SOCKET: notify }
  for (const value of valuesOf('Environment')) for (const word of words(value)) { const at = word.indexOf('='); env[word.slice(0, at)] = word.slice(at + 1) }
  for (const value of valuesOf('EnvironmentFile')) {
    const path = value.replace(/^-/, '')
    if (existsSync(path)) for (const line of readFileSync(path, 'utf8').split('\n')) { const at = line.indexOf('='); if (at > 0) env[line.slice(0, at)] = line.slice(at + 1) }
  }
  env.PATH = join(folder, 'systemd-bin') + ':' + env.PATH
  const [program, ...rest] = words(valuesOf('ExecStart')[0])
  const out = openSync(join(folder, 'journal'), 'a')
  const child = spawn(program, rest, { env, detached: true, stdio: ['ignore', out, out] })
  let ended
  child.once('error', () => { ended = { code: 203 } })
  child.once('exit', (code, signal) => { ended = { code, signal } })
  state.pid = child.pid
  delete state.lastExit
  save()
  while (!ended && !(existsSync(notify) && readFileSync(notify, 'utf8').includes('READY=1'))) await sleep()
  if (!ended) { child.unref(); return }
  state.lastExit = ended.code
  delete state.pid
  save()
  console.error('Job for parley.service failed because the control process exited with error code.\nSee "systemctl --user status parley.service" and "journalctl --user -xeu parley.service" for details.')
  process.exit(1)
}
async function main() {
  if (verb === 'show') {
    const active = Boolean(state.pid && alive(state.pid))
    const failed = !active && state.lastExit !== undefined
    console.log('Result=' + (failed ? 'exit-code' : 'success'))
    console.log('LoadState=' + (existsSync(unit) ? 'loaded' : 'not-found'))
    console.log('NRestarts=0')
    const [command] = existsSync(unit) ? valuesOf('ExecStart').map(words) : []
    if (command) console.log('ExecStart={ path=' + command[0] + ' ; argv[]=' + command.join(' ') + ' ; ignore_errors=no ; start_time=[n/a] ; stop_time=[n/a] ; pid=0 ; code=(null) ; status=0/0 }')
    console.log('ExecMainCode=' + (failed ? 1 : 0))
    console.log('ExecMainStatus=' + (failed ? state.lastExit : 0))
    console.log('ActiveState=' + (active ? 'active' : failed ? 'failed' : 'inactive'))
    console.log('SubState=' + (active ? 'running' : failed ? 'failed' : 'dead'))
    console.log('UnitFileState=' + (state.enabled ? 'enabled' : ''))
    return
  }
  if (verb === 'enable') { state.enabled = true; save(); if (args.includes('--now')) await start() }
  else if (verb === 'disable') { state.enabled = false; save(); if (args.includes('--now')) await stop() }
  else if (verb === 'restart') { await stop(); await start() }
  process.exit(0)
}
main()
`
