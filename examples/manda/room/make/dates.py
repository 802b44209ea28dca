"""Sets every date in the metadata of the finished files to the document's own date (the writers put the day of the run)."""
import re,zipfile,sys,os
sys.path.insert(0,os.path.dirname(os.path.abspath(__file__)))
import build
for d in build.load():
    p=f'{build.ROOT}/{d.deal}/files/{d.file}';dt=d.meta['date'];c=dt.replace('-','')
    if p.endswith('.pdf'):
        b=open(p,'rb').read()
        n=re.sub(rb'D:\d{14}',b'D:'+c.encode()+b'090000',b)
        n=re.sub(rb'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d',dt.encode()+b'T09:00:00',n)
        assert len(n)==len(b);open(p,'wb').write(n)
    elif p.endswith(('docx','xlsx','pptx')):
        z=zipfile.ZipFile(p);items=[(i.filename,z.read(i)) for i in z.infolist()];z.close()
        y=tuple(int(x) for x in dt.split('-'))+(9,0,0)
        with zipfile.ZipFile(p,'w',zipfile.ZIP_DEFLATED) as o:
            for n,b in items:
                if n.endswith('core.xml'):
                    b=re.sub(rb'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z',dt.encode()+b'T09:00:00Z',b)
                o.writestr(zipfile.ZipInfo(n,y),b,zipfile.ZIP_DEFLATED)
