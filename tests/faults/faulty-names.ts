import dns from 'node:dns'
import { existsSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

// Loaded into processes of the service: two host names lead to this machine until the file exists that FAULTY_NAMES_DOWN names.

type Lookup = (host: string, options: object, callback: (error: Error, address: string, family: number) => void) => void

const lookup = dns.lookup as Lookup
const isDown = () => existsSync(process.env['FAULTY_NAMES_DOWN']!)

const lookUpFaulty: Lookup = (host, options, callback) => {
  if (!host.endsWith('.test')) return lookup(host, options, callback)
  if (!isDown()) return lookup('127.0.0.1', options, callback)
  // No platform listens at the second address.
  if (host === 'refused.test') return lookup('127.0.0.2', options, callback)
  const error = Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND', syscall: 'getaddrinfo' })
  return process.nextTick(callback, error, '', 0)
}

Object.assign(dns, { lookup: lookUpFaulty })
syncBuiltinESMExports()
