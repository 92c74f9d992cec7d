import { useEffect, useRef, useState } from 'react';

/**
 * Opens a file that is dropped anywhere on the page: a browser would leave the page for a file that is dropped beside an area.
 * @returns whether a file is over the page
 */
export function useDroppedFile(open: (file: File) => void): boolean {
  const [isOver, setIsOver] = useState(false);
  const current = useRef(open);
  useEffect(() => {
    current.current = open;
  });
  useEffect(() => {
    const controller = new AbortController();
    const onDrag = (isEnd: boolean) => (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return;
      event.preventDefault();
      setIsOver(!isEnd);
      const [file] = event.dataTransfer.files;
      if (event.type === 'drop' && file) current.current(file);
    };
    const { signal } = controller;
    document.addEventListener('dragover', onDrag(false), { signal });
    document.addEventListener('dragleave', onDrag(true), { signal });
    document.addEventListener('drop', onDrag(true), { signal });
    return () => controller.abort();
  }, []);
  return isOver;
}
