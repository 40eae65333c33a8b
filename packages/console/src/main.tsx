import '@mantine/core/styles.layer.css'
import '@mantine/dates/styles.layer.css'
import '@mantine/notifications/styles.layer.css'
import './console.css'
import { setNonce } from 'get-nonce'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { cspNonce } from './shared/page-settings.ts'

// For the style elements of dialogs, which lock the scrolling of the page.
if (cspNonce !== '') setNonce(cspNonce)
createRoot(document.querySelector('#root')!).render(<App />)
