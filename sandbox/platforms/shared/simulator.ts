import { mkdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import type { Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startFaultProxy, type FaultProxy } from '../fault-proxy.ts'
import type { ProxiedPlatform } from '../proxied-platform.ts'
import { readJson, writeJson } from '../json-file.ts'
import { closeServer, listenOnLoopback } from '../listen.ts'

/** Where a simulator stores its data. */
export interface SimulatorPlace {
  /** The data folder; by default a temporary folder that is deleted on stop. */
  dir?: string
  port?: number
  controlPort?: number
}

interface Built<Api extends object> {
  server: Server
  /** The platforms by the names of their proxies; one server may simulate several platforms. */
  fronts: Record<string, ProxiedPlatform>
  api: Api
}

/** The address of a front and its control interface. */
export type Front = Pick<FaultProxy, 'url' | 'control'>

/**
 * Starts a simulator behind its fault proxies. Connected accounts store the URLs, so the ports stay the same across
 * starts if possible. `build` may request the URL of a front once everything is running.
 */
export async function startSimulator<Api extends object>(
  name: string,
  place: SimulatorPlace,
  build: (around: { dir: string; urlOf(front: string): string }) => Built<Api>,
): Promise<Api & { fronts: Record<string, Front>; stop(): Promise<void> }> {
  const dir = place.dir ?? (await mkdtemp(join(tmpdir(), `postonce-${name}-`)))
  mkdirSync(dir, { recursive: true })
  const portsFile = join(dir, 'ports.json')
  const ports = readJson<Record<string, number>>(portsFile, {})
  const proxies: Record<string, FaultProxy> = {}
  const { server, fronts, api } = build({ dir, urlOf: (front) => proxies[front]!.url })
  const serverUrl = await listenOnLoopback(server)
  for (const [front, platform] of Object.entries(fronts)) {
    proxies[front] = await startFaultProxy({
      platform,
      target: () => serverUrl,
      port: place.port ?? ports[front] ?? 0,
      controlPort: place.controlPort ?? ports[`${front} control`] ?? 0,
    })
  }
  writeJson(
    portsFile,
    Object.fromEntries(
      Object.entries(proxies).flatMap(([front, { url, control }]) => [
        [front, portOf(url)],
        [`${front} control`, portOf(control)],
      ]),
    ),
  )
  return {
    ...api,
    fronts: proxies,
    async stop() {
      for (const proxy of Object.values(proxies)) await proxy.stop()
      await closeServer(server)
      if (!place.dir) await rm(dir, { recursive: true, force: true })
    },
  }
}

function portOf(url: string): number {
  return Number(new URL(url).port)
}
