import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { readProxies } from '../../src/platform/proxies.ts'
import { type CompanyProxy, startCompanyProxy } from '../fakes/company-proxy.ts'
import { PUBLIC, type Sink, startSink, testDoor, wanted } from './net.ts'

let site: Sink
let proxy: CompanyProxy

beforeEach(async () => {
  site = await startSink()
  const at = `http://127.0.0.1:${site.port}`
  const company = await startCompanyProxy({ hosts: { [PUBLIC]: at, 'tools.example': at }, login: 'ada:x' })
  proxy = company
  readProxies({ HTTP_PROXY: `http://ada:x@127.0.0.1:${company.port}` })
  onTestFinished(() => {
    readProxies({})
    company.close()
  })
})

/** The proxy leads to the public address itself. */
const proxiedDoor = (resolve = async (): Promise<readonly string[]> => [PUBLIC]) =>
  testDoor({ resolve, landing: (address) => address })

describe('behind a proxy', () => {
  it('a page is asked for at the address that was checked here, under its own name', async () => {
    const answer = await proxiedDoor().ask('http://example.org/page', wanted)
    expect(answer).toMatchObject({ kind: 'answer', status: 200 })
    expect(proxy.targets).toEqual([`${PUBLIC}:80`])
    expect(site.asked).toEqual(['example.org/page'])
  })

  it.each([
    ['http://intranet.example/', ['10.1.2.3']],
    ['http://intranet.example/', [PUBLIC, '169.254.169.254']],
    ['http://10.1.2.3/', [PUBLIC]],
    ['http://169.254.169.254/latest', [PUBLIC]],
    ['http://[::1]/', [PUBLIC]],
    ['http://wiki.corp/', [PUBLIC]],
  ])('%s at %j is asked of nobody', async (address, resolved) => {
    const asked = proxiedDoor(async () => resolved).ask(address, wanted)
    await expect(asked).rejects.toMatchObject({ code: 'forbidden' })
    expect(proxy.targets).toEqual([])
    expect(site.connections()).toBe(0)
  })

  it('a name that only the proxy may know is asked of nobody, and that is said', async () => {
    const unknown = proxiedDoor(() => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })))
    await expect(unknown.ask('http://example.org/', wanted)).rejects.toThrow(
      'example.org cannot be looked up on this machine, which is needed behind a proxy too.',
    )
    await expect(proxiedDoor(async () => []).ask('http://example.org/', wanted)).rejects.toThrow('There is no host')
    expect(proxy.targets).toEqual([])
  })

  it("an operator's own address is asked for by its name; a refusal names the proxy to the operator alone", async () => {
    const configured = { ...wanted, configured: true } as const
    await proxiedDoor().ask('http://tools.example/mcp', configured)
    expect(proxy.targets).toEqual(['tools.example:80'])
    proxy.status = 403
    await expect(proxiedDoor().ask('http://tools.example/mcp', configured)).rejects.toThrow(
      `tools.example: the proxy 127.0.0.1:${proxy.port} (HTTP_PROXY) answered 403`,
    )
    await expect(proxiedDoor().ask('http://example.org/', wanted)).rejects.toThrow(
      /^example\.org cannot be reached through the proxy of this machine\.$/,
    )
  })
})
