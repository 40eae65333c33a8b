import { createRoot } from 'react-dom/client'

createRoot(document.querySelector('#root')!).render(<p>postonce</p>)
