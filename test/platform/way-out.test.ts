import { expect, it, onTestFinished } from 'vitest'
import { proxyOf, readProxies } from '../../src/platform/proxies.ts'
import { openTunnel } from '../../src/platform/way-out.ts'
import { startCompanyProxy } from '../fakes/company-proxy.ts'

const PROXY = 'http://proxy.example:3128'

function read(env: Readonly<Record<string, string>>): readonly string[] {
  onTestFinished(() => void readProxies({}))
  return readProxies(env)
}

it.each([
  ['corp.example', 'https://corp.example/', 'the name itself'],
  ['corp.example', 'https://a.b.corp.example/', 'a name below it'],
  ['.corp.example', 'https://corp.example/', 'a leading dot changes nothing'],
  ['*.corp.example', 'wss://a.corp.example/', 'nor does a star'],
  ['CORP.example', 'http://corp.EXAMPLE/', 'nor do capitals'],
  ['a.example, corp.example', 'https://corp.example/', 'a list with spaces'],
  ['corp.example:8443', 'https://corp.example:8443/', 'with its port'],
  ['10.1.2.3', 'http://10.1.2.3:11434/', 'an address'],
  ['10.0.0.0/8', 'http://10.1.2.3:11434/', 'a network'],
  ['fd00::/8', 'http://[fd00::1]:11434/', 'a network of IPv6'],
  ['[fd00::1]', 'http://[fd00::1]:11434/', 'an address of IPv6'],
  ['*', 'https://anything.example/', 'everything'],
  ['', 'http://localhost:11434/', 'this machine by name'],
  ['', 'http://127.0.0.2:11434/', 'this machine by address'],
  ['', 'http://[::1]:11434/', 'this machine by its address of IPv6'],
])('NO_PROXY=%s reaches %s directly: %s', (list, url) => {
  read({ HTTPS_PROXY: PROXY, HTTP_PROXY: PROXY, NO_PROXY: list })
  expect(proxyOf(new URL(url))).toBeUndefined()
})

it.each([
  ['corp.example', 'https://notcorp.example/'],
  ['corp.example:8443', 'https://corp.example/'],
  ['10.0.0.0/8', 'https://11.1.2.3/'],
  ['10.0.0.0/99,,nonsense//', 'https://10.1.2.3/'],
])('NO_PROXY=%s does not cover %s', (list, url) => {
  read({ https_proxy: PROXY, NO_PROXY: list })
  expect(proxyOf(new URL(url))?.url?.host).toBe('proxy.example:3128')
})

it('each protocol has its variable, small letters count first, and ALL_PROXY stands for both', () => {
  read({ https_proxy: 'secure.example:1', HTTPS_PROXY: 'other.example:1', ALL_PROXY: '"http://all.example:1"' })
  expect(proxyOf(new URL('wss://gateway.example/'))).toMatchObject({ variable: 'https_proxy' })
  expect(proxyOf(new URL('https://a.example/'))?.url?.host).toBe('secure.example:1')
  expect(proxyOf(new URL('http://a.example/'))?.url?.host).toBe('all.example:1')
  read({ HTTPS_PROXY: ' ' })
  expect(proxyOf(new URL('https://a.example/'))).toBeUndefined()
})

it('a proxy that is none by HTTP is named, without its password, and leads nowhere', async () => {
  const [doubt, ...more] = read({ ALL_PROXY: 'socks5://ada:secret@127.0.0.1:1080' })
  expect(doubt).toBe(
    'ALL_PROXY names no proxy by HTTP: write http://host:port; until then only what needs no proxy is reached',
  )
  expect(more).toEqual([])
  const proxy = proxyOf(new URL('https://a.example/'))
  expect(proxy).toBeDefined()
  if (proxy)
    await expect(openTunnel(proxy, { host: 'a.example', port: 443 })).rejects.toThrow('ALL_PROXY names no proxy')
})

it.each([
  [403, 'it does not let this machine there'],
  [503, 'it does not reach that host; a host of your own network belongs in NO_PROXY'],
])('the answer %i of a proxy is said with its remedy', async (status, words) => {
  const company = await startCompanyProxy({ hosts: { 'a.example': 'http://127.0.0.1:1' }, login: 'ada:x' })
  onTestFinished(() => company.close())
  company.status = status
  read({ HTTPS_PROXY: `http://ada:x@127.0.0.1:${company.port}` })
  const proxy = proxyOf(new URL('https://a.example/'))
  if (proxy === undefined) throw new Error('there is a proxy')
  await expect(openTunnel(proxy, { host: 'a.example', port: 443 })).rejects.toThrow(
    `the proxy 127.0.0.1:${company.port} (HTTPS_PROXY) answered ${status} when it was asked for a.example:443: ${words}`,
  )
})

it('a password is sent as it is written, with codes and without', async () => {
  const company = await startCompanyProxy({ hosts: { 'a.example': 'http://127.0.0.1:1' }, login: 'ada:100% p@ss' })
  onTestFinished(() => company.close())
  for (const password of ['100%25%20p%40ss', '100% p%40ss']) {
    read({ HTTPS_PROXY: `http://ada:${password}@127.0.0.1:${company.port}` })
    const proxy = proxyOf(new URL('https://a.example/'))
    if (proxy === undefined) throw new Error('there is a proxy')
    const socket = await openTunnel(proxy, { host: 'a.example', port: 443 })
    socket.destroy()
  }
  expect(company.targets).toHaveLength(2)
})

it('a proxy that is off is said to be, by its address', async () => {
  const company = await startCompanyProxy({ hosts: {}, login: '' })
  company.close()
  read({ HTTPS_PROXY: `http://127.0.0.1:${company.port}` })
  const proxy = proxyOf(new URL('https://a.example/'))
  if (proxy === undefined) throw new Error('there is a proxy')
  await expect(openTunnel(proxy, { host: 'a.example', port: 443 })).rejects.toThrow(
    `the proxy 127.0.0.1:${company.port} (HTTPS_PROXY): 127.0.0.1:${company.port} refused the connection`,
  )
})
